// Reads and writes session files with pi's session manager.
//   node pi.mjs PACKAGE read FILE…    prints the messages for the model, by file
//   node pi.mjs PACKAGE write FOLDER  writes a session with all kinds of rows
//   node pi.mjs PACKAGE append FILE   opens it and appends
//   node pi.mjs PACKAGE latest FOLDER prints the session that `pi --continue` takes
//   node pi.mjs PACKAGE hold FILE     opens it, says so, waits for a line, and appends
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [folder, verb, ...files] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(folder, path)).href);
const { SessionManager, findMostRecentSession } = await load("dist/core/session-manager.js");
const { convertToLlm } = await load("dist/core/messages.js");

const usage = {
  input: 10, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 30,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
let clock = 1771581600000;
const tick = () => (clock += 1000);
const user = (content) => ({ role: "user", content, timestamp: tick() });
const agent = (content, stopReason = "stop") => ({
  role: "assistant", content, api: "anthropic-messages", provider: "anthropic",
  model: "claude-sonnet-4-5", usage, stopReason, timestamp: tick(),
});
const result = (toolCallId, toolName, content, details = {}, isError = false) => ({
  role: "toolResult", toolCallId, toolName, content, details, isError, timestamp: tick(),
});
const text = (text) => ({ type: "text", text });
const call = (id, name, args) => ({ type: "toolCall", id, name, arguments: args });
const long = (what) => `${what} – größer „als“ \ud83e\udde0\u2028\t"\\" `.repeat(60);

function goOn(manager) {
  manager.appendMessage(user("and now?"));
  manager.appendMessage(agent([text("It goes on.")]));
}

function write(folder) {
  const manager = SessionManager.create("/home/dev/project", folder);
  manager.appendModelChange("anthropic", "claude-sonnet-4-5");
  manager.appendThinkingLevelChange("low");
  manager.appendMessage(user(long("the task")));
  for (let round = 0; round < 6; round++) {
    const [ls, cat] = [`toolu_${round}_ls`, `toolu_${round}_cat`];
    const thinking = { type: "thinking", thinking: long(`thought ${round}`) };
    if (round % 2 === 0) thinking.thinkingSignature = "EqQBCkYIBxgCKkD";
    manager.appendMessage(agent([
      thinking, text(`Looking, ${round}.`),
      call(ls, "exec", { command: long("ls") }), call(cat, "read", { path: "a.txt" }),
      ...(round === 3 ? [call("toolu_fails", "exec", { command: "false" })] : []),
    ], "toolUse"));
    const listed = long(`listing ${round}`);
    manager.appendMessage(result(ls, "exec", [text(listed)], { status: "completed", aggregated: listed }));
    manager.appendMessage(result(cat, "read", [
      text(long(`first ${round}`)), { type: "image", data: "iVBORw0KGgo=".repeat(80), mimeType: "image/png" },
      text(long(`second ${round}`)), text("short"),
    ]));
    if (round === 3) {
      manager.appendMessage(result("toolu_fails", "exec", [text(long("failed"))], {}, true));
    }
    manager.appendMessage(agent([text(long(`answer ${round}`))]));
    manager.appendCustomEntry("openclaw.cache-ttl", { timestamp: clock });
    manager.appendMessage(user(`go on; [[extracted-${round}]] is what it said: ${long("quoted")}`));
    manager.appendMessage(agent([text("Yes.")]));
    if (round === 1) {
      const kept = manager.getLeafId();
      manager.appendMessage(user("a wrong turn"));
      manager.appendMessage(agent([text(long("a way that was left"))]));
      manager.branchWithSummary(kept, "We tried something.");
    }
    if (round === 2) manager.appendCompaction("We listed files.", manager.getLeafId(), 50000);
  }
  manager.appendLabelChange(manager.getLeafId(), "checkpoint");
  manager.appendSessionInfo("everything");
  return manager.getSessionFile();
}

function read(file) {
  const before = readFileSync(file);
  try {
    const manager = SessionManager.open(file);
    const { messages } = manager.buildSessionContext();
    return {
      messages, llm: convertToLlm(messages), leaf: manager.getLeafId(),
      entries: manager.getEntries().length, name: manager.getSessionName(),
      untouched: before.equals(readFileSync(file)),
    };
  } catch (error) {
    return { error: String(error) };
  }
}

const print = (value) => console.log(JSON.stringify(value));
if (verb === "read") print(files.map(read));
else if (verb === "write") print(write(files[0]));
else if (verb === "latest") print(findMostRecentSession(files[0]));
else if (verb === "append") {
  goOn(SessionManager.open(files[0]));
  print("done");
} else if (verb === "hold") {
  const manager = SessionManager.open(files[0]);
  print("open");
  await new Promise((resolve) => createInterface({ input: process.stdin }).once("line", resolve));
  goOn(manager);
  print(manager.buildSessionContext().messages);
} else throw new Error(`no verb ${verb}`);
