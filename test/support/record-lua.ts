/** Writes down anew what redis-server answers to the Lua snippets: `npx tsx test/support/record-lua.ts`. */
import { recordLuaGolden } from './lua-golden.ts';

await recordLuaGolden();
