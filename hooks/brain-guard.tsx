// The mod: brain-guard's hands inside the client's process.
//
// It writes one gauge snapshot per tool call of the main loop, and it carries
// out, one by one, the actions that `brain-guard mod …` answers with. It also
// offers the agent the program's tools. It decides nothing, and it fails open:
// an error in here costs a snapshot or ends the exchange, the call or the turn
// goes on.
//
// Only events that 2.1.286 knows: the client refuses a module whole for one
// name it does not know. A call it lacks throws where it is made.
import type { EngineInterface, PromptBox, Register, ToolCallResult, ToolSpec } from 'claude-code'

const VERSION = '0.1.0'

/** The binary answers in milliseconds; past this it counts as not there. */
const TIMEOUT_MS = 5000

/** Making a session of a large one, or looking through many, takes longer. */
const LONG_TIMEOUT_MS = 60_000

/** Between two looks for what the user agreed to. Each takes the client some 3 ms. */
const LOOK_MS = 1000

/** Each of so many looks is also for what another terminal changed, and for whether the session needs its user. */
const FOLLOW_LOOKS = 3
const NEED_LOOKS = 60

/** How many looks without an answer end the strip. Once may be a busy machine. */
const SILENCES = 2

/** From the answer to a command to the look for what the user agreed to. */
const SOON_MS = 50

/** For how long the user's consent counts. */
const FRESH_MS = 60_000

/** By when the client is in the session that it was told to resume. */
const SWITCH_MS = 1000

/** How long the warning before a clear stays on the screen. */
const SOON_TOAST_MS = 10_000

/** How old the strip's figures may get while it says why nothing is blocked, which may end. */
const CAPPED_MS = 10_000

/** How often a drive begins again after the binary did not answer. */
const RETRIES = 5

/** After a clear, when the notes should long have been delivered. */
const OVERDUE_MS = 13_000

/** How many columns the strip needs beside its two bars and what is in force. */
const TEXT_COLUMNS = 36

/** The least columns of a bar. */
const LEAST_BAR = 4

/** How many rows may follow a turn before the next one, such as answers of commands. */
const ROWS = 50

/** Between two looks at the prompt box until then. */
const DRAFT_MS = 10

/** By when the client has emptied the box afterwards. */
const EMPTIED_MS = 100

type Json = Record<string, unknown>
type Report = { event: string } & Json
type Tier = { context: number; effect: string }
/** Figures for the strip above the prompt box: tokens, and percent of the compaction file's limit. Before the
 * first reading the limit is a guess. `file_rank` tiers are reached by
 * the file, `harmless` block nothing; `capped` says why none of them does. `next_session` says what
 * that one would get, the longest text first. */
type Figures = {
  used: number
  limit: number
  measured: boolean
  file: number
  tiers: Tier[]
  file_rank: number
  harmless: number
  capped: string | null
  next_session: string[]
}

// The module outlives /clear: one process, one session after another.
let binary = ''
/** What command hooks get and a run of ours does not, as far as it is known here. */
let environment: Record<string, string> = {}
/** The folder of the snapshots; empty while the mod is inert. */
let snapshots = ''
/** The limit as the client reports it; null where it can't be had. */
let limit: Json | null = null
/** What the strip shows; null where it is off. */
let figures: Figures | null = null
let figuresAt = 0
/** What the strip shows in their place while a drive waits. */
let notice: string | undefined
/** Whether the user may answer it, and whether a toast has said it. */
let isChoice = false
let isToasted = false
/** Whether the user has hidden the strip. */
let isHidden = false
/** When somebody last changed the prompt box. */
let typedAt = 0
/** What the strip asks the user until they answer. */
let question: string | undefined
/** Whether a sealed file awaits its boundary: then every call is asked about first. */
let sealed = false
/** The running turn of the main loop, the text it began with, and its last row once it is over. */
let turn: { id: string; text: string; row?: string } = { id: '', text: '' }
/** Whether it still runs. */
let isTurn = false
/** What was last submitted for the binary. */
let submitted: Json = {}
/** What the binary has yet to be told; the running drive empties it. */
let reports: Report[] = []
let isDriving = false
/** How many drives in a row ended because the binary did not answer. */
let failures = 0
/** What the user last agreed to, as the program wrote it. */
let seen = ''
/** How often in a row the program did not answer a look. */
let silences = 0
/** Up to which change that the user made elsewhere the strip is up to date, and to which row between turns. */
let drawn = ''
let drawnRow: string | undefined
/** Whether the looks have begun. */
let isLooking = false
/** The full names of the tools that the client took from us. */
const tools = new Set<string>()
/** Hears of edits of the prompt box while the client changes sessions. */
let edited: ((box: PromptBox) => void) | undefined
/** Ends when the draft is back in the box. */
let restored: Promise<void> | undefined
/** The draft, from then until a turn begins. */
let refilled = ''
/** Whether the row of a command that was answered here has yet to come. Empty, it costs no tokens. */
let isAnswered = false
/** The texts of refused turn ends, by the line that the screen shows. */
const whole = new Map<string, string>()
/** Ends the wait a drive is in. */
let wake = () => {}

/** The variables that name the session; 2.1.286 has no such call. */
async function named($: EngineInterface): Promise<Record<string, string>> {
  try {
    return await $.process.hookEnv()
  } catch {
    return {}
  }
}

/** One exchange with the binary; rejects where it is missing, slow or unintelligible. */
async function exchange($: EngineInterface, args: string[], input: Json, timeoutMs: number): Promise<Json> {
  const { exitCode, stdout } = await $.process.run([binary, ...args], {
    stdin: JSON.stringify(input),
    env: { ...environment, ...(await named($)) },
    timeoutMs,
  })
  const answer: unknown = exitCode === 0 ? JSON.parse(stdout) : null
  if (typeof answer !== 'object' || answer === null) throw new Error(`brain-guard ${args.join(' ')} ended with exit code ${exitCode}`)
  return answer as Json
}

/** Asks the binary something. */
async function ask($: EngineInterface, verb: string, input: Json, timeoutMs = TIMEOUT_MS): Promise<Json> {
  const answer = await exchange($, ['mod', verb], input, timeoutMs)
  silences = 0
  const { sealed: isSealed, question: asked } = answer
  if (typeof isSealed === 'boolean') sealed = isSealed
  if (asked !== undefined && asked !== (question ?? null)) {
    question = typeof asked === 'string' ? asked : undefined
    draw($)
  }
  return answer
}

/** The answer to a command of ours that the user typed, as the hook gives it; nothing where the agent runs it. */
async function answerTo($: EngineInterface, command: string, args: string): Promise<string | undefined> {
  const session_id = await $.session.id()
  const typed = { hook_event_name: 'UserPromptExpansion', command_source: 'plugin', command_name: command, command_args: args }
  const { reason } = await exchange($, ['hook'], { ...typed, session_id, cwd: environment.CLAUDE_PROJECT_DIR }, LONG_TIMEOUT_MS)
  return typeof reason === 'string' ? reason.replace(/^brain-guard(: |\n)/, '') : undefined
}

async function start($: EngineInterface, cwd: string, isInteractive: boolean): Promise<void> {
  binary = `${$.plugin.root}/bin/brain-guard`
  environment = { CLAUDE_PROJECT_DIR: cwd, CLAUDE_PLUGIN_ROOT: $.plugin.root }
  const answer = await ask($, 'start', { version: VERSION, session_id: await $.session.id() })
  if (answer.ok === true && typeof answer.snapshots === 'string') {
    const { CLAUDE_PID: pid = answer.pid } = await named($)
    await $.env.set('BRAIN_GUARD_MOD', `${VERSION}:${pid}${isInteractive ? ':prompt' : ''}`)
    snapshots = answer.snapshots
    await offer($, answer.tools as ToolSpec[])
    if (!isLooking) {
      void watch($).catch(() => {})
      begin($)
    }
    isLooking = true
    void readLimit($).catch(() => {})
    void readFigures($).catch(() => {})
  } else if (typeof answer.why === 'string') {
    $.ui.log(answer.why)
  }
}

/** A boundary may wait in a session that is resumed, once the hooks of its start are done, or where a process of ours
 * was killed. */
function begin($: EngineInterface, afterMs = LOOK_MS): void {
  void $.clock.sleep(afterMs).then(() => (isDriving || isTurn ? undefined : tell($, { event: 'begun' })))
}

/** Offers tools to the agent. The client refuses them if the user gave it a server of our name. */
async function offer($: EngineInterface, specs: ToolSpec[]): Promise<void> {
  try {
    for (const spec of specs) tools.add((await $.tool.register(spec)).tool)
  } catch (why) {
    $.ui.log(`brain-guard: ${why}`, { to: 'debug' })
  }
}

/** Asks for the limit, once a turn: it takes the client up to 25 ms. Clients without a breakdown report none. */
async function readLimit($: EngineInterface): Promise<void> {
  limit = null
  const { context } = await $.session.usage({ breakdown: 'summary' })
  const { isAutoCompactEnabled: isOn, autoCompactThreshold, rawMaxTokens } = context.breakdown ?? {}
  if (typeof rawMaxTokens === 'number') {
    limit = { threshold: isOn === false ? null : autoCompactThreshold ?? null, window: rawMaxTokens }
  }
}

/** Asks for the strip's figures, and what the user is to be told about them; the tokens are brought up to date with
 * every call. */
async function readFigures($: EngineInterface): Promise<void> {
  figuresAt = Date.now()
  const session_id = await $.session.id()
  drawnRow = await lastRow($)
  const answer = await ask($, 'strip', { session_id, row: drawnRow })
  if (typeof answer.say === 'string') $.ui.log(answer.say)
  if ((await $.session.id()) !== session_id) return
  figures = Array.isArray(answer.tiers) ? (answer as Figures) : null
  $.ui.invalidate('ui.render')
}

/** The same once the client is in the next session, or most likely has written the turn's last row. */
function readFiguresSoon($: EngineInterface): void {
  void $.clock.sleep(LOOK_MS).then(() => readFigures($)).catch(() => {})
}

/** `▓▓░░ 23 %` */
function bar(percent: number, width: number): string {
  const full = Math.max(0, Math.min(width, Math.round((percent / 100) * width)))
  return `${'▓'.repeat(full)}${'░'.repeat(width - full)} ${Math.floor(percent)} %`
}

/** The gauges, what is in force, with its color, and in what is left of the width what the next session would get. */
function stripLine({ used, limit, file, tiers, file_rank, harmless, capped, next_session }: Figures, columns: number) {
  const context = (used * 100) / Math.max(1, limit)
  const reached = Math.max(file_rank, tiers.filter(tier => context >= tier.context).length)
  const isHarmless = reached <= harmless
  const because = capped === null || isHarmless ? '' : ` (${capped})`
  const state = capped !== null || isHarmless ? `nothing blocked${because}` : String(tiers[reached - 1]?.effect)
  const blocking = reached === tiers.length && capped === null ? 'error' : 'warning'
  const color = isHarmless ? undefined : blocking
  const free = columns - TEXT_COLUMNS - state.length
  const gets = next_session.map(text => `   ${text}`).find(text => free - text.length >= 2 * LEAST_BAR) ?? ''
  const width = Math.max(LEAST_BAR, Math.min(16, Math.floor((free - gets.length) / 2)))
  return { gauges: `context ${bar(context, width)}   notes ${bar(file, width)}   `, state, color, gets }
}

/** `output` is null: a step's output tokens would cost a hook on every streamed chunk. */
async function snapshot($: EngineInterface, id: string): Promise<void> {
  const { context } = await $.session.usage()
  const reading = {
    session_id: await $.session.id(),
    tokens: context.tokens ?? null,
    window: context.window ?? null,
    output: null,
    model: await $.session.model(),
    limit,
  }
  await $.fs.write(`${snapshots}/${id}.json`, JSON.stringify(reading))
  if (figures?.measured && typeof reading.tokens === 'number') {
    figures.used = reading.tokens
    $.ui.invalidate('ui.render')
  }
}

/** What the client gives a `PreToolUse` hook. */
async function payload($: EngineInterface, call: Json): Promise<Json> {
  // The tool's arguments lie beside the client's own fields.
  const { tool: tool_name, tool_use_id, agentId: agent_id, requestMeta, ...tool_input } = call
  const session_id = await $.session.id()
  return { hook_event_name: 'PreToolUse', session_id, agent_id, tool_name, tool_input, tool_use_id }
}

/** The result of a call of a tool of ours. The client fires no hook for it, so the program decides first. */
async function callTool($: EngineInterface, call: Json): Promise<ToolCallResult> {
  try {
    const { deny, result, say } = await ask($, 'tool', await payload($, call), LONG_TIMEOUT_MS)
    if (typeof say === 'string') $.ui.log(say)
    return typeof deny === 'string' ? { deny } : { result }
  } catch (why) {
    return { deny: `brain-guard: ${why}` }
  }
}

/** The text to refuse this call with, the turn cut where it could be; else nothing. */
async function gate($: EngineInterface, call: Json): Promise<string | undefined> {
  const answer = await ask($, 'gate', await payload($, call))
  if (answer.action !== 'abort') return undefined
  // Of parallel calls the first ends the turn; for the others it is over.
  await $.turn.abort({ turnId: turn.id }).catch(() => {})
  if (typeof answer.say === 'string') $.ui.log(answer.say)
  return typeof answer.text === 'string' ? answer.text : 'sealed: end your turn'
}

/** The text to close an open question with, once nobody is there to answer it; nothing where it stays open or is answered. */
async function unanswered($: EngineInterface, isAnswered: () => boolean): Promise<string | undefined> {
  while (!isAnswered()) {
    const answer = await ask($, 'question', { session_id: await $.session.id() })
    if (answer.action === 'deny') return String(answer.text)
    if (answer.action !== 'wait') return undefined
    await $.clock.sleep(Number(answer.ms))
  }
  return undefined
}

/** The ids of the conversation's last rows, which the client may not have written yet; 2.1.286 has no such call. */
async function lastRows($: EngineInterface, last: number): Promise<string[] | undefined> {
  try {
    const rows = await $.session.messages({ last })
    return Array.isArray(rows) ? rows.map(row => row.uuid) : undefined
  } catch {
    return undefined
  }
}

async function lastRow($: EngineInterface): Promise<string | undefined> {
  return (await lastRows($, 1))?.at(-1)
}

/** The command that the program chose: files of the project or the user may have the names of the client's. */
function command({ command, why }: Json): string {
  if (typeof command !== 'string') throw new Error(String(why))
  return command
}

/** Carries out one action and says what came of it; nothing where there is nothing to do. */
async function act($: EngineInterface, action: Json): Promise<Report | undefined> {
  const { token, text } = action
  switch (action.action) {
    case 'wait':
      return wait($, action)
    case 'clear': {
      const before = await $.session.id()
      await $.command.run({ command: command(action) })
      const after = await $.session.id()
      if (after === before) throw new Error('the session is still the same one')
      return { event: 'cleared', token, session_id: after }
    }
    case 'submit': {
      await restored
      // Behind a turn it would wait and arrive late. The turn's end asks again.
      if (isTurn) return undefined
      submitted = { text, token }
      const { drop } = await $.prompt.submit({ text: String(text), asUser: true })
      // The turn may have begun by now, or be queued: its end carries the token.
      const turn_id = turn.text === text ? turn.id : undefined
      return { event: 'submitted', token, turn_id, dropped: drop }
    }
    case 'operate': {
      show($, action.status)
      const before = turn.id
      const session_id = await $.session.id()
      const made = await ask($, 'operate', { session_id, row: await lastRow($) }, LONG_TIMEOUT_MS)
      if (typeof made.event !== 'string') throw new Error('the program did not answer')
      return isTurn || turn.id !== before ? { ...made, event: 'overtaken' } : (made as Report)
    }
    case 'resume': {
      if (isTurn) return { event: 'overtaken' }
      await resume($, command(action), String(action.to))
      void readFigures($).catch(() => {})
      return { event: 'resumed' }
    }
    default:
      return undefined
  }
}

/** Goes on in another session, and puts back what the user has in the prompt box or types meanwhile. */
async function resume($: EngineInterface, command: string, to: string): Promise<void> {
  await restored
  const [from, before] = [await $.session.id(), turn.id]
  let draft = await $.prompt.read()
  edited = box => {
    // Else the client has emptied the box meanwhile, which is no edit.
    if (box.text === '' || box.text.startsWith(draft.text)) draft = box
  }
  try {
    const resumed = $.command.run({ command, args: to })
    let isLate = false
    const late = () => (isLate = true)
    void resumed.then(() => $.clock.sleep(SWITCH_MS)).then(late, late)
    while (!isLate) {
      const box = await $.prompt.read()
      if ((await $.session.id()) !== from) break
      // In the old session it is the user who empties the box, by sending what is in it.
      draft = box
      await $.clock.sleep(DRAFT_MS)
    }
    await resumed
  } finally {
    restored = restore($, () => draft, before).catch(() => {})
  }
  if (draft.text !== '') await restored
}

/** Puts the draft back into the prompt box, which the client empties, unless a turn has begun meanwhile. */
async function restore($: EngineInterface, latest: () => PromptBox, before: string): Promise<void> {
  await $.clock.sleep(EMPTIED_MS)
  edited = undefined
  const [draft, { text }] = [latest(), await $.prompt.read()]
  if (text.startsWith(draft.text) || turn.id !== before) return
  refilled = draft.text
  await $.prompt.fill({ text: draft.text + text, cursor: draft.cursor + text.length })
}

/** Takes the draft out of the prompt box again: a turn began with it, so the user had sent it just before. No event
 * told us in time, and a hook on `prompt.submit` would make the client put commands back into the box. */
async function takeBack($: EngineInterface, draft: string): Promise<void> {
  await restored
  const { text, cursor } = await $.prompt.read()
  if (!text.startsWith(draft)) return
  await $.prompt.fill({ text: text.slice(draft.length), cursor: Math.max(0, cursor - draft.length) })
}

/** Shows a text in the strip while something is performed. */
function show($: EngineInterface, text: unknown, choice: unknown = false): void {
  if (text === notice && choice === isChoice) return
  notice = typeof text === 'string' ? text : undefined
  isChoice = choice === true
  if (notice === undefined) isToasted = false
  draw($)
}

/** Draws the strip, or a line below the prompt box where the strip is off or hidden. */
function draw($: EngineInterface): void {
  drawBelow($)
  if (figures !== null) $.ui.invalidate('ui.render')
}

function drawBelow($: EngineInterface): void {
  const text = notice ?? question
  const ways = isChoice && notice !== undefined ? '/brain-guard:later keeps this session for 30 min. ' : ''
  $.ui.status((figures === null || isHidden) && text !== undefined ? ways + text : undefined)
}

/** Tells somebody who has no strip that the session is cleared within seconds. */
function warn($: EngineInterface, text: string): void {
  if (isToasted || (figures !== null && !isHidden)) return
  isToasted = true
  $.ui.toast(text, { timeoutMs: SOON_TOAST_MS })
}

/** What the user answers the notice with. */
async function press($: EngineInterface, button: string): Promise<void> {
  const { say } = await ask($, 'press', { session_id: await $.session.id(), button })
  if (typeof say === 'string') $.ui.toast(say)
  wake()
  await readFigures($)
}

/** A turn's end cuts the wait short, and is what the binary hears of instead. */
async function wait($: EngineInterface, { ms, status, choice, soon }: Json): Promise<Report | undefined> {
  const woken = new Promise<void>(resolve => (wake = resolve))
  show($, status, choice)
  if (soon === true) warn($, String(status))
  if (reports.length === 0) await Promise.race([$.clock.sleep(Number(ms)), woken])
  return reports.length === 0 ? { event: 'waited' } : undefined
}

/** How many subagents still run; 2.1.286 has no such call. */
async function runningAgents($: EngineInterface): Promise<number | undefined> {
  try {
    const agents = await $.agent.list()
    return agents.filter(({ kind, taskStatus }) => kind === 'local_agent' && taskStatus === 'running').length
  } catch {
    return undefined
  }
}

/** How many milliseconds ago somebody last changed the prompt box. */
function typedAgo(): number | undefined {
  return typedAt === 0 ? undefined : Date.now() - typedAt
}

/** What a boundary is asked for again by, right before each act: the context now, and whether somebody types. */
async function seenNow($: EngineInterface): Promise<Json> {
  const { context } = await $.session.usage()
  const rows = await lastRows($, ROWS)
  return {
    tokens: context.tokens ?? undefined,
    is_rewound: turn.row !== undefined && rows !== undefined && rows.length < ROWS && !rows.includes(turn.row),
    typed_ms: typedAgo(),
  }
}

/** Tells the binary, by the running drive or a new one. */
async function tell($: EngineInterface, what: Report): Promise<void> {
  reports.push(what)
  await drive($)
}

/** Report, action, report, … until the binary has no further action. One at a time. */
async function drive($: EngineInterface): Promise<void> {
  if (isDriving) return wake()
  isDriving = true
  let next: Report | undefined
  try {
    for (let report = reports.shift(); report !== undefined; report = reports.shift()) {
      next = report
      while (next !== undefined) {
        // A turn that was cut short has no Stop to say it.
        const agents = next.event === 'turn-complete' ? await runningAgents($) : undefined
        const seen = { ...(await seenNow($)), agents }
        const action: Json = await ask($, 'step', { session_id: await $.session.id(), ...seen, ...next })
        failures = 0
        if (action.action !== 'wait') show($, undefined)
        if (typeof action.say === 'string') $.ui.log(action.say)
        next = await act($, action).catch((why: unknown) => ({
          event: 'failed',
          token: action.token,
          what: action.action,
          why: why instanceof Error ? why.message : String(why),
        }))
      }
    }
  } catch (why) {
    reports = []
    // The program can't say what failed, so this does.
    if (next?.event === 'failed') $.ui.log(`brain-guard: ${next.what} failed: ${next.why}`)
    else $.ui.log(`brain-guard: ${why}`, { to: 'debug' })
    failures += 1
    if (failures <= RETRIES) begin($, failures * LOOK_MS)
  } finally {
    show($, undefined)
    isDriving = false
  }
}

/** Looks for what the user agreed to or wants to edit while no turn runs: a command in another terminal raises no event
 * here. It cuts a drive's wait short. */
async function look($: EngineInterface): Promise<void> {
  if (snapshots === '' || isTurn) return
  const session_id = await $.session.id()
  const asked = await $.fs.read(`${snapshots}/${session_id}.agreed`).catch(() => '')
  if (asked === '' || asked === seen) return
  seen = asked
  const { popup: command, at }: Json = JSON.parse(asked)
  // The file of a session that the client comes back to may be old.
  if (Date.now() - Date.parse(String(at)) > FRESH_MS) return
  if (Array.isArray(command)) return void (await $.process.run(command))
  await tell($, { event: 'agreed' })
}

/** Brings the strip up to date after a change from another terminal, such as an override, other settings, or an
 * uninstall; also in a turn. Rows that come between two turns are of no request, such as a compaction's. */
async function follow($: EngineInterface): Promise<void> {
  const changed = await $.fs.read(`${snapshots}/${await $.session.id()}.strip`).catch(() => '')
  const row = isTurn ? drawnRow : await lastRow($)
  const mayEnd = typeof figures?.capped === 'string' && Date.now() - figuresAt > CAPPED_MS
  if ((changed === drawn && row === drawnRow && !mayEnd) || silences >= SILENCES) return
  await readFigures($)
  drawn = changed
}

/** Asks the program to tell a user who is away that the session needs them. */
async function tellNeed($: EngineInterface): Promise<void> {
  await ask($, 'waits', { session_id: await $.session.id(), typed_ms: typedAgo() })
}

/** Without the program, such as after an uninstall, the strip would go on saying what it said. */
function miss($: EngineInterface): void {
  silences += 1
  if (silences < SILENCES) return
  figures = null
  drawBelow($)
  $.ui.invalidate('ui.render')
}

/** Looks for as long as the client runs. */
async function watch($: EngineInterface): Promise<void> {
  for (let looks = 1; ; looks += 1) {
    await $.clock.sleep(LOOK_MS)
    await look($).catch(() => {})
    if (snapshots === '') continue
    if (looks % FOLLOW_LOOKS === 0) await follow($).catch(() => miss($))
    if (looks % NEED_LOOKS === 0) await tellNeed($).catch(() => miss($))
  }
}

export const register: Register = on => {
  on('session.start', async ($, e, next) => {
    try {
      await start($, e.cwd, e.isInteractive)
    } catch (why) {
      $.ui.log(`brain-guard: ${why}`, { to: 'debug' })
    }
    return next(e)
  })

  on('session.end', ($, e, next) => {
    sealed = false
    isTurn = false
    question = undefined
    turn.row = undefined
    isAnswered = false
    whole.clear()
    show($, undefined)
    draw($)
    begin($)
    begin($, OVERDUE_MS)
    // The next session's start raises no event here.
    readFiguresSoon($)
    return next(e)
  })

  on('turn.start', ($, e, next) => {
    if (e.agentId === undefined) {
      turn = { id: e.turnId, text: e.text }
      isTurn = true
      if (refilled !== '' && refilled.trim() === e.text.trim()) void takeBack($, refilled).catch(() => {})
      refilled = ''
      if (snapshots !== '') {
        void readLimit($).catch(() => {})
      }
    }
    return next(e)
  })

  on('tool.call', async ($, e, next) => {
    const run = () => (tools.has(e.tool) ? callTool($, { ...e }) : next(e))
    if (snapshots === '' || e.agentId !== undefined) return run()
    try {
      const deny = sealed ? await gate($, { ...e }) : undefined
      if (deny !== undefined) return { deny }
      await snapshot($, e.tool_use_id)
    } catch (why) {
      $.ui.log(`brain-guard: ${why}`, { to: 'debug' })
    }
    const call = run()
    if (e.tool === 'AskUserQuestion') {
      let isAnswered = false
      const answered = call.then(() => undefined).finally(() => (isAnswered = true))
      const closing = unanswered($, () => isAnswered).catch(() => undefined)
      const text = await Promise.race([answered, closing.then(text => text ?? answered)])
      if (text !== undefined) return { deny: text }
    }
    const result = await call
    const command = 'command' in e ? e.command : undefined
    const isOurs = typeof command === 'string' && command.includes('brain-guard')
    if (isOurs) await ask($, 'poll', { session_id: await $.session.id() }).catch(() => {})
    if (figures !== null && (isOurs || !figures.measured)) void readFigures($).catch(() => {})
    return result
  })

  // The user's commands: an answer, and no request.
  on('command.run', async ($, e, next) => {
    if (snapshots === '' || !e.command.startsWith('brain-guard:')) return next(e)
    isAnswered = false
    const text = await answerTo($, e.command, e.args).catch(() => undefined)
    if (text === undefined) return next(e)
    isAnswered = true
    void readFigures($).catch(() => {})
    return { text, isTextDisplayOnly: true }
  })

  on('session.append', { door: 'command' }, async ($, e, next) => {
    const isOurs = e.message.content.some(block => String(block.text).includes('<command-name>/brain-guard:'))
    if (!isAnswered || !isOurs) return next(e)
    isAnswered = false
    const appended = await next({ ...e, message: { ...e.message, content: [] } })
    // What the user agreed to starts once the row is in the conversation.
    void $.clock.sleep(SOON_MS).then(() => look($)).catch(() => {})
    return appended
  })

  // A refused turn's end takes one line on the screen; the agent gets the whole text.
  on('classic.Stop', async ($, e, next) => {
    const result = await next(e)
    if (!Array.isArray(result?.additionalContext)) return result
    const additionalContext = result.additionalContext.map((text: string) => {
      const line = text.split('\n', 1)[0] ?? ''
      if (!text.startsWith('brain-guard') || line === text) return text
      whole.set(line, text)
      return line
    })
    return { ...result, additionalContext }
  })

  on('session.append', { door: 'hook-context' }, ($, e, next) => {
    const content = e.message.content.map(block => {
      for (const [line, text] of whole) {
        if (typeof block.text !== 'string' || !block.text.includes(line)) continue
        whole.delete(line)
        return { ...block, text: block.text.replace(line, () => text) }
      }
      return block
    })
    return next({ ...e, message: { ...e.message, content } })
  })

  // "hook error" would be wrong: the call is refused on purpose.
  on('classic.PreToolUse', async ($, e, next) => {
    const result = await next(e)
    if (typeof result?.deny !== 'string') return result
    return { ...result, deny: result.deny.replace(/^PreToolUse:\S+ hook error: (?=brain-guard)/, '') }
  })

  on('prompt.edit', async ($, e, next) => {
    const box = await next(e)
    typedAt = Date.now()
    edited?.(box)
    return box
  })

  on('ui.render', { component: 'AbovePrompt' }, ($, e, next) => {
    if (figures === null) return next(e)
    if ((e.props.isCollapsed === true) !== isHidden) {
      isHidden = !isHidden
      drawBelow($)
    }
    const { Box, Text, Button } = $.ui.resolve(e)
    if (notice !== undefined && isChoice) {
      return (
        <Box>
          <Button key="later" hotkey="1" plain onPress={() => void press($, 'later').catch(() => {})}>pause 30 min</Button>
          <Box flexShrink={0}><Text> · </Text></Box>
          <Button key="now" hotkey="2" plain onPress={() => void press($, 'now').catch(() => {})}>restart</Button>
          <Box flexShrink={0}><Text> · </Text></Box>
          <Text color="warning" wrap="wrap">{notice}</Text>
        </Box>
      )
    }
    const text = notice ?? question
    if (text !== undefined) {
      return (
        <Box>
          <Text wrap="wrap">{text}</Text>
        </Box>
      )
    }
    const { gauges, state, color, gets } = stripLine(figures, e.props.bodyColumns)
    return (
      <Box>
        <Text wrap="wrap">
          {gauges}
          <Text color={color}>{state}</Text>
          <Text dimColor>{gets}</Text>
        </Text>
      </Box>
    )
  })

  on('turn.complete', async ($, e, next) => {
    const at = Date.now()
    const result = await next(e)
    if (e.agentId === undefined && e.turnId === turn.id) isTurn = false
    if (snapshots !== '' && e.agentId === undefined) {
      readFiguresSoon($)
      turn.row = await lastRow($)
      void tell($, {
        event: 'turn-complete',
        at,
        session_id: await $.session.id(),
        turn_id: e.turnId,
        token: turn.id === e.turnId && turn.text === submitted.text ? submitted.token : undefined,
        reason: e.reason,
        answered: e.usage !== undefined,
        is_aborted: e.isAborted,
      })
    }
    return result
  })
}
