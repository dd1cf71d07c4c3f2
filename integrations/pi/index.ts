// brain-guard in pi: long old values leave what the model gets, by pi's own `context_edit` entries,
// and the agent gets them back with a tool. The program decides and stores; this carries it out. Nothing
// that pi has written is changed. It fails open: without the program, pi runs as without this.
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ContextEditEntryDraft as ContextEdit, ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import { Type } from 'typebox'

/** By when the program must have answered at a turn's end, how long it is left alone there if it has
 * not, and by when if somebody asks. */
const TIMEOUT_MS = 5_000
const PAUSE_MS = 10 * 60_000
const ASKED_MS = 20_000

const TOOL = 'purge_control'

/** An entry's content as the model is to get it. */
type Lean = { entry_id: string; content: NonNullable<ContextEdit['replacement']>['content'] }
type Decision = { acts: boolean; refused?: string; entries: Lean[]; back?: string[] }

/** Characters of a token, roughly. */
const CHARACTERS = 4

/** Tokens that pi keeps free: it compacts before they are used (its `compaction.reserveTokens`). */
const RESERVE = 16_384

/** The type of our own entries, which keep that the user has switched it off. */
const ENTRY = 'brain-guard'

/** How every placeholder begins. */
const MARK = '[[extracted-'

/** Where `brain-guard install` puts the command, unless it is on the PATH alone. */
function program(): string {
  const installed = join(homedir(), '.local/bin/brain-guard')
  return existsSync(installed) ? installed : 'brain-guard'
}

export default function (pi: ExtensionAPI) {
  const brainGuard = program()
  /** Why nothing went at the last turn's end. */
  let failed: string | undefined
  let pausedUntil = 0

  /** Runs the program on the session: what it answers, and what it says beside that. Throws what it says
   * where it fails. */
  async function run(ctx: ExtensionContext, before: string[], after: string[] = [], timeout = ASKED_MS): Promise<string[]> {
    const file = ctx.sessionManager.getSessionFile()
    if (file === undefined) throw new Error('this session is not kept in a file')
    const { signal } = ctx
    const done = await pi.exec(brainGuard, ['extract', ...before, file, ...after], { timeout, signal })
    if (signal?.aborted) throw new Error('stopped')
    if (done.killed) throw new Error(`no answer within ${timeout / 1000} s`)
    const said = done.stderr.trim().replace(/^brain-guard: /, '')
    if (done.code !== 0) throw new Error(said || `exit code ${done.code}`)
    return said === '' ? [done.stdout] : [done.stdout, said]
  }

  function isOff(ctx: ExtensionContext): boolean {
    const own = ctx.sessionManager.getBranch().findLast(entry => entry.type === 'custom' && entry.customType === ENTRY)
    return own?.type === 'custom' && (own.data as { off?: boolean }).off === true
  }

  /** Edits that put the own content of each entry back that has placeholders on this branch. */
  function undone(ctx: ExtensionContext): ContextEdit[] {
    const latest = new Map<string, string>()
    for (const entry of ctx.sessionManager.getBranch()) {
      if (entry.type === 'context_edit') latest.set(entry.targetId, JSON.stringify(entry.replacement))
    }
    return [...latest].flatMap(([targetId, replacement]): ContextEdit[] => {
      const entry = ctx.sessionManager.getEntry(targetId)
      if (!replacement.includes(MARK) || entry?.type !== 'message' || !('content' in entry.message)) return []
      const own = { content: entry.message.content }
      // A text of the entry's own may look like a placeholder.
      return JSON.stringify(own) === replacement ? [] : [{ type: 'context_edit', targetId, replacement: own }]
    })
  }

  /** The same for those that the model gets now. */
  function masked(ctx: ExtensionContext): ContextEdit[] {
    const sent = ctx.sessionManager.buildSessionProjection().entries.filter(({ messages }) => messages.length > 0)
    const ids = new Set(sent.map(({ sourceEntry }) => sourceEntry.id))
    return undone(ctx).filter(({ targetId }) => ids.has(targetId))
  }

  /** Says in the status line how many entries are masked now, or another text. */
  function say(ctx: ExtensionContext, text?: string): void {
    if (!ctx.hasUI) return
    const count = masked(ctx).length
    const said = text ?? (count === 0 ? undefined : `${count} ${count === 1 ? 'entry' : 'entries'} masked`)
    ctx.ui.setStatus('brain-guard', said === undefined ? undefined : `brain-guard: ${said}`)
  }

  /** A pi without this package has taken the tool out of the session for good. */
  function begin(ctx: ExtensionContext): void {
    const active = pi.getActiveTools()
    if (!active.includes(TOOL)) pi.setActiveTools([...active, TOOL])
    say(ctx)
  }

  pi.on('session_start', (_event, ctx) => begin(ctx))
  pi.on('session_tree', (_event, ctx) => begin(ctx))
  // The edits of a turn's end are in the session by then.
  pi.on('turn_start', (_event, ctx) => say(ctx))
  pi.on('agent_settled', (_event, ctx) => say(ctx, failed))

  // Everything of this turn is in the file, and the next request is not made yet.
  pi.on('turn_end', async (event, ctx) => {
    if (isOff(ctx)) {
      failed = undefined
      return { entries: [...event.entries, ...undone(ctx)] }
    }
    if (ctx.signal?.aborted) return undefined
    if (Date.now() < pausedUntil || ctx.sessionManager.getSessionFile() === undefined) return undefined
    failed = pi.getActiveTools().includes(TOOL) ? undefined : `nothing goes without the tool ${TOOL}`
    if (failed !== undefined) return undefined
    const began = Date.now()
    try {
      // For models that take their thinking only behind what has not changed, pi has the API drop it.
      const compat = ctx.model?.compat ?? {}
      const dropsThinking = 'supportsMidConvoEffort' in compat && compat.supportsMidConvoEffort === true
      const how = dropsThinking ? ['--drops-thinking'] : []
      const { acts, refused, entries, back = [] }: Decision = JSON.parse((await run(ctx, ['keep'], how, TIMEOUT_MS))[0] ?? '')
      failed = refused
      // What must not be extracted any more comes back, as the whole entry.
      const kept = undone(ctx).filter(({ targetId }) => back.includes(targetId))
      if (!acts && kept.length === 0) return undefined
      // Another pi may have written to the file; pi takes edits of this branch only.
      const here = new Set(ctx.sessionManager.getBranch().map(({ id }) => id))
      const edits = (acts ? entries : [])
        .filter(({ entry_id }) => here.has(entry_id))
        .map(({ entry_id, content }): ContextEdit => ({ type: 'context_edit', targetId: entry_id, replacement: { content } }))
      return { entries: [...event.entries, ...kept, ...edits] }
    } catch (why) {
      if (ctx.signal?.aborted) return undefined
      if (Date.now() - began >= TIMEOUT_MS) pausedUntil = Date.now() + PAUSE_MS
      failed = why instanceof Error ? why.message.split('\n')[0] : String(why)
      say(ctx, failed)
      return undefined
    }
  })

  pi.registerTool({
    name: TOOL,
    label: TOOL,
    description:
      'Content extracted from this session ([[extracted-ID]]): get_context lists it, restore prints what an entry held, set_extractable says whether an entry may be extracted (true, false, a number of messages, or none). Restore only what you need.',
    parameters: Type.Object({
      action: Type.Union([Type.Literal('get_context'), Type.Literal('restore'), Type.Literal('set_extractable')]),
      entry_id: Type.Optional(Type.String({ description: 'the ID of the placeholder' })),
      keys: Type.Optional(Type.Array(Type.String(), { description: 'only these values of the entry' })),
      lines: Type.Optional(Type.String({ description: 'restore: only these lines, as 10-40' })),
      value: Type.Optional(Type.String({ description: 'for set_extractable' })),
    }),
    async execute(_id, { action, entry_id = '', keys = [], lines, value = '' }, _signal, _update, ctx) {
      const of = {
        get_context: () => run(ctx, ['context'], ['--json']),
        // All of it at once may be more than the model's window.
        restore: () => entry_id === 'all' ? Promise.reject(new Error('name one entry: each is restored by its own call')) : run(ctx, ['restore'], [entry_id, ...keys.flatMap(key => ['--key', key]), ...(lines ? ['--lines', lines] : [])]),
        set_extractable: () => run(ctx, ['set-extractable'], [entry_id, value]),
      }
      const texts = await of[action]()
      return { content: texts.map(text => ({ type: 'text' as const, text })), details: {} }
    },
  })

  pi.registerCommand('brain-guard', {
    description: 'What was extracted from this session; `off` puts all of it back and ends that, `on` begins again',
    handler: async (args, ctx) => {
      const word = args.trim()
      if (word === 'on') {
        pi.appendEntry(ENTRY, { off: false })
        return ctx.ui.notify('Extraction goes on when the next turn ends.', 'info')
      }
      if (word === 'off' || word === 'off!') {
        // An image counts by its size on the screen, not by its letters.
        const length = (edit: ContextEdit) => JSON.stringify(edit.replacement, (name, value) => (name === 'data' ? '' : value)).length
        const tokens = Math.round(masked(ctx).reduce((sum, edit) => sum + length(edit), 0) / CHARACTERS)
        const used = ctx.getContextUsage()
        if (word === 'off' && used && (used.tokens ?? 0) + tokens > used.contextWindow - RESERVE) {
          const text = `Nothing is changed: about ${tokens} tokens would come back, and the window has no room for them, so pi would compact.`
          return ctx.ui.notify(`${text} /brain-guard off! does it.`, 'warning')
        }
        pi.appendEntry(ENTRY, { off: true })
        const back = tokens === 0 ? 'nothing is masked here' : `what is masked, about ${tokens} tokens, is back when the next turn ends`
        return ctx.ui.notify(`Extraction is off in this session; ${back}.`, 'info')
      }
      if (word !== '') return ctx.ui.notify(`There is no ${word}: on, off, or nothing, which lists.`, 'warning')
      const file = ctx.sessionManager.getSessionFile()
      // pi writes a session's file with its first answer.
      const isNew = file !== undefined && !existsSync(file)
      const none = 'Nothing of this session is extracted.'
      const [text = none] = isNew ? [] : await run(ctx, ['context']).catch((why: Error) => [why.message])
      ctx.ui.notify(`${isOff(ctx) ? 'Extraction is off in this session.\n' : ''}${text.trim()}`, 'info')
    },
  })
}
