// Written by `tenure connect opencode`; `tenure disconnect opencode` takes it away. It calls the command below and never throws.
import { spawn } from "node:child_process"

const HOOK = __HOOK__
const LIMIT_MS = __LIMIT__

function call(event, input) {
  return new Promise((resolve) => {
    let said = ""
    try {
      const child = spawn(HOOK[0], [...HOOK.slice(1), "opencode", event], { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => { child.kill(); resolve("") }, LIMIT_MS)
      child.on("error", () => { clearTimeout(timer); resolve("") })
      child.on("close", () => { clearTimeout(timer); resolve(said) })
      child.stdout.on("data", (part) => { said += part })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(input))
    } catch { resolve("") }
  })
}

async function context(event, input) {
  try { return JSON.parse(await call(event, input)).context || "" } catch { return "" }
}

export const Tenure = async ({ directory }) => {
  const stable = new Map(), recalled = new Map(), steps = new Map(), seen = new Set()
  const about = (session) => ({ session_id: session, cwd: directory })
  return {
    "chat.message": async (input, output) => {
      const prompt = (output.parts || []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
      if (prompt) recalled.set(input.sessionID, await context("prompt", { ...about(input.sessionID), prompt }))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      if (!session) return
      if (!stable.has(session)) stable.set(session, await context("session-start", about(session)))
      for (const text of [stable.get(session), recalled.get(session)]) if (text) output.system.push(text)
    },
    "experimental.session.compacting": async (input) => { await call("pre-compact", about(input.sessionID)) },
    event: async ({ event }) => {
      const part = event.properties?.part
      if (event.type === "message.part.updated" && part?.type === "tool" && ["completed", "error"].includes(part.state?.status)) {
        const id = `${part.callID}:${part.state.status}`
        if (seen.has(id)) return
        seen.add(id)
        const step = { id: part.callID, name: part.tool, arguments: part.state.input, output: part.state.output, error: part.state.error }
        steps.set(part.sessionID, [...(steps.get(part.sessionID) || []), step])
      }
      if (event.type === "session.idle" || event.type === "session.deleted") {
        const session = event.properties?.sessionID || event.properties?.info?.id
        if (!session) return
        const tools = steps.get(session) || []
        steps.delete(session)
        await call(event.type === "session.idle" ? "turn-end" : "session-end", { ...about(session), tools })
      }
    },
  }
}
