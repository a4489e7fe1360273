/** Records redis-server's replies to the Lua snippets again: `npx tsx test/scripting/record-lua.ts`. */
import { recordLuaGolden } from './lua-golden.ts';

await recordLuaGolden();
