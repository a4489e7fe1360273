/** Formats log lines as redis-server does: process id, role, local time, level, text. */
import type { LogLevel } from '../server/ports.ts';

/** The levels, least important first. */
export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'verbose', 'notice', 'warning'];

const MARKS: Readonly<Record<LogLevel, string>> = { debug: '.', verbose: '-', notice: '*', warning: '#' };
const ROLES: Readonly<Record<LogOrigin['role'], string>> = { primary: 'M', replica: 'S', sentinel: 'X' };
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Who logs a line, and when. */
export interface LogOrigin {
  /** The process id. */
  readonly pid: number;
  /** The server's role when it logged the line. */
  readonly role: 'primary' | 'replica' | 'sentinel';
  /** The time in milliseconds since the epoch. */
  readonly at: number;
}

/** One line without the line break: `12345:M 22 Nov 2026 01:02:03.004 * Ready to accept connections tcp 6379`. */
export function logLine(level: LogLevel, text: string, { pid, role, at }: LogOrigin): string {
  const time = new Date(at);
  const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0');
  const day = `${pad(time.getDate())} ${MONTHS[time.getMonth()]} ${time.getFullYear()}`;
  const clock = `${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}`;
  const millis = pad(time.getMilliseconds(), 3);
  return `${pid}:${ROLES[role]} ${day} ${clock}.${millis} ${MARKS[level]} ${text}`;
}
