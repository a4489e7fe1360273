/** Declares this server's commands: the declaration of `table/command.ts`, for handlers that receive the whole node. */
import type { Caller } from '../server.ts';
import { declaring } from '../table/command.ts';

/** `defineCommands` and `defineContainer` for handlers that receive a `Caller`. */
export const { defineCommands, defineContainer } = declaring<Caller>();
