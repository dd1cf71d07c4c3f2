// Prints the messages of a session in OpenClaw's database for its model, as JSON.
//   messages.mjs SDK STATE AGENT SESSION KEY
const [sdk, state, agentId, sessionId, sessionKey] = process.argv.slice(2);
const { SessionManager } = await import(sdk);
const storePath = `${state}/agents/${agentId}/sessions/sessions.json`;
const session = SessionManager.open({ agentId, sessionId, sessionKey, storePath });
console.log(JSON.stringify(session.buildSessionContext().messages));
