/** Declares this server's commands: the general declaration of `table/command.ts`, for handlers that see the whole node. */
import type { Caller } from '../server.ts';
import { declaring } from '../table/command.ts';

/** `defineCommands` and `defineContainer`, for handlers that are given a `Caller`. */
export const { defineCommands, defineContainer } = declaring<Caller>();
