/** Writes down anew what redis-server answers to the Lua snippets: `npx tsx test/scripting/record-lua.ts`. */
import { recordLuaGolden } from './lua-golden.ts';

await recordLuaGolden();
