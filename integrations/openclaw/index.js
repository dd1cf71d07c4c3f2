// brain-guard in OpenClaw: long old values leave what the model gets, and the agent gets them back with
// a tool. The program decides and stores; this carries it out. Nothing that OpenClaw has written is
// changed. It fails open: without the program, OpenClaw runs as without this.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { delegateCompactionToRuntime } from 'openclaw/plugin-sdk/core'
import { definePluginEntry } from 'openclaw/plugin-sdk/plugin-entry'

/** By when the program must have answered before a turn, and how long it is left alone if it has not. */
const TIMEOUT_MS = 5_000
const PAUSE_MS = 10 * 60_000
const ASKED_MS = 20_000

/** Of how many sessions it is remembered what was masked last. */
const KNOWN = 20

const ID = 'brain-guard'
const TOOL = 'purge_control'

/** Where `brain-guard install` puts the command, unless it is on the PATH alone. */
function program() {
  const installed = join(homedir(), '.local/bin/brain-guard')
  return existsSync(installed) ? installed : 'brain-guard'
}

/** Runs the program on a session: what it answers, and what it says beside that. Throws what it says
 * where it fails. */
function run(agentDir, sessionId, before, after = [], timeout = ASKED_MS) {
  const session = `${join(agentDir, 'openclaw-agent.sqlite')}:${sessionId}`
  return new Promise((resolve, reject) => {
    const options = { timeout, maxBuffer: 256 * 1024 * 1024 }
    execFile(program(), ['extract', ...before, session, ...after], options, (error, stdout, stderr) => {
      const said = stderr.trim().replace(/^brain-guard: /, '')
      if (error?.killed) return reject(new Error(`no answer within ${timeout / 1000} s`))
      if (error) return reject(new Error(said || error.message))
      resolve(said === '' ? [stdout] : [stdout, said])
    })
  })
}

/** A message with placeholders. OpenClaw rewrites ids of calls and leaves blocks out, so only what is
 * extracted is taken from the program's content: texts, and arguments of calls. */
function masked(message, content) {
  if (!Array.isArray(message.content) || !Array.isArray(content)) return undefined
  const parts = { text: ['text'], toolCall: ['arguments'] }
  const lean = content.filter(({ type }) => type in parts)
  const own = message.content.filter(({ type }) => type in parts)
  if (own.length !== lean.length || own.some(({ type }, at) => type !== lean[at].type)) return undefined
  const next = lean.values()
  return { ...message, content: message.content.map(block => {
    if (!(block.type in parts)) return block
    const from = next.next().value
    return { ...block, ...Object.fromEntries(parts[block.type].map(part => [part, from[part]])) }
  }) }
}

/** Newer models of Claude refuse their thinking behind a change. */
function withoutThinking(message) {
  const isClaude = message.role === 'assistant' && message.api?.startsWith('anthropic')
  if (!isClaude || !Array.isArray(message.content)) return message
  return { ...message, content: message.content.filter(({ type }) => type !== 'thinking') }
}

/** What tells a message from the others. Results of parallel calls may come in the same millisecond, and
 * OpenClaw takes some characters out of the ids of calls. */
function key(timestamp, call) {
  return `${timestamp} ${call === undefined ? '' : call.replace(/[^A-Za-z0-9]/g, '')}`
}

/** The messages as the model is to get them. */
function lean(messages, entries) {
  const contents = new Map()
  for (const { timestamp, call, content } of entries) {
    const name = key(timestamp, call)
    contents.set(name, timestamp === undefined || contents.has(name) ? undefined : content)
  }
  let hasChanged = false
  return messages.map(message => {
    const content = message.role === 'user' ? undefined : contents.get(key(message.timestamp, message.toolCallId))
    const changed = content === undefined ? undefined : masked(message, content)
    hasChanged ||= changed !== undefined
    return hasChanged ? withoutThinking(changed ?? message) : message
  })
}

export default definePluginEntry({
  id: ID,
  name: ID,
  description: 'Moves old tool output out of what the model gets, and back on request',
  register(api) {
    /** What was masked last, by session: it stays so if the program does not answer. */
    const known = new Map()
    let pausedUntil = 0

    async function decide(agentDir, sessionId) {
      if (Date.now() < pausedUntil) return
      const began = Date.now()
      try {
        const [said] = await run(agentDir, sessionId, ['keep'], ['--drops-thinking'], TIMEOUT_MS)
        known.delete(sessionId)
        known.set(sessionId, JSON.parse(said).entries)
        if (known.size > KNOWN) known.delete(known.keys().next().value)
      } catch (why) {
        if (Date.now() - began >= TIMEOUT_MS) pausedUntil = Date.now() + PAUSE_MS
        api.logger.warn(`brain-guard: nothing new goes in session ${sessionId}: ${why.message}`)
      }
    }

    api.registerContextEngine(ID, ({ agentDir }) => ({
      info: {
        id: ID,
        name: ID,
        ownsCompaction: false,
        acceptedHostParams: ['sessionKey', 'sessionTarget', 'runtimeContext'],
        // Without both, OpenClaw leaves this out for the whole turn; only its log says so.
        transcriptSemantics: {
          currentTurnFence: 'before-current-turn-entry-v1',
          turnAdvancementIdempotency: 'atomic-idempotent-v1',
        },
      },
      async ingest() {
        return { ingested: true }
      },
      async commitTurn() {
        return { status: 'committed' }
      },
      async assemble({ sessionId, messages }) {
        // A session's first turn has nothing before it.
        if (messages.length > 0 && agentDir !== undefined) await decide(agentDir, sessionId)
        const all = lean(messages, known.get(sessionId) ?? [])
        const text = JSON.stringify(all, (name, value) => (name === 'data' ? '' : value))
        return { messages: all, estimatedTokens: Math.ceil(text.length / 4) }
      },
      async compact(params) {
        return await delegateCompactionToRuntime(params)
      },
    }))

    api.registerTool(({ agentDir, sessionId }) => ({
      name: TOOL,
      label: TOOL,
      catalogMode: 'direct-only',
      description:
        'Content extracted from this session ([[extracted-ID]]): get_context lists it, restore prints what an entry held, set_extractable says whether an entry may be extracted (true, false, a number of messages, or none). Restore only what you need.',
      parameters: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['get_context', 'restore', 'set_extractable'] },
          entry_id: { type: 'string', description: 'the ID of the placeholder' },
          keys: { type: 'array', items: { type: 'string' }, description: 'only these values of the entry' },
          lines: { type: 'string', description: 'restore: only these lines, as 10-40' },
          value: { type: 'string', description: 'for set_extractable' },
        },
        required: ['action'],
      },
      async execute(_id, { action, entry_id = '', keys = [], lines, value = '' }) {
        const actions = {
          get_context: () => run(agentDir, sessionId, ['context'], ['--json']),
          // All of it at once may be more than the model's window.
          restore: () => entry_id === 'all' ? Promise.reject(new Error('name one entry: each is restored by its own call')) : run(agentDir, sessionId, ['restore'], [entry_id, ...keys.flatMap(key => ['--key', key]), ...(lines ? ['--lines', lines] : [])]),
          set_extractable: () => run(agentDir, sessionId, ['set-extractable'], [entry_id, value]),
        }
        const texts = await actions[action]()
        return { content: texts.map(text => ({ type: 'text', text })), details: {} }
      },
    }), { names: [TOOL] })

    const slot = api.config?.plugins?.slots?.contextEngine
    if (slot !== ID) {
      const other = slot === undefined || slot === 'legacy' ? 'none' : slot
      api.logger.warn(`brain-guard: nothing is masked, only ${TOOL} works; the context engine is ${other}. To change that: openclaw config set plugins.slots.contextEngine ${ID}`)
    }
  },
})
