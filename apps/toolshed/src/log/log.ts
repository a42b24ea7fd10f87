import type { Clock } from "@tidemark/protocol";

export type LogLevel = "info" | "warn" | "error";

/** Structured log: a message, and fields beside it. Secrets and cell values are never among the fields. */
export type Log = (
  level: LogLevel,
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

const COLORS: Readonly<Record<LogLevel, number>> = { info: 36, warn: 33, error: 31 };

/** Where lines go, and whether it is a terminal. */
export interface LogSink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** One JSON object a line, `time` in milliseconds since the epoch; on a terminal, words and color instead. */
export function createLog(clock: Pick<Clock, "now">, sink: LogSink): Log {
  return (level, message, fields = {}) => {
    const line = sink.isTTY
      ? pretty(level, message, fields)
      : JSON.stringify({ time: clock.now(), level, message, ...fields });
    sink.write(`${line}\n`);
  };
}

function pretty(level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) {
  const rest = Object.entries(fields)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
  return `\u001b[${COLORS[level]}m${level.padEnd(5)}\u001b[0m ${message} \u001b[2m${rest}\u001b[0m`;
}
