#!/usr/bin/env bash
# Starts lostlock for the rest of a job, and writes its address to the outputs of the step. The inputs come as environment variables.
set -euo pipefail

# Hides secrets in the log of the job, as they are and as they stand in a URL: the runner prints REDIS_URL in every later step.
hide() {
  node - "$@" <<'END'
for (const secret of process.argv.slice(2).filter((word) => word !== '')) {
  for (const form of new Set([secret, encodeURIComponent(secret)])) {
    console.log(`::add-mask::${form.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`);
  }
}
END
}

read -r -a flags <<<"${FLAGS:-}"
secrets=("${PASSWORD:-}")
for ((at = 0; at < ${#flags[@]}; at++)); do
  case ${flags[at]} in
    --requirepass=* | --masterauth=* | --primaryauth=* | --tls-*-pass=*) secrets+=("${flags[at]#*=}") ;;
    --requirepass | --masterauth | --primaryauth | --tls-*-pass) secrets+=("${flags[at + 1]:-}") ;;
  esac
done
hide "${secrets[@]}"

# The version of the commit that the action is pinned to.
own=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && node -p 'require("./package.json").version')
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/lostlock.XXXXXX")
read -r -a words <<<"${LOSTLOCK:-npx --yes lostlock@${VERSION:-$own}}"
words+=(--port "${PORT:-6379}" --port-file "$folder/port" --url-file "$folder/url")
case ${KIND:-server} in
  server) ;;
  sentinel) words+=(--replicas 2 --sentinels 3) ;;
  cluster) words+=(--cluster 3 --replicas 1) ;;
  *) echo "::error::kind is '$KIND': must be server, sentinel or cluster"; exit 1 ;;
esac
if [ -n "${PASSWORD:-}" ]; then words+=(--requirepass "$PASSWORD"); fi
if [ -n "${DIALECT:-}" ]; then words+=(--dialect "$DIALECT"); fi
# The shell of macOS takes an empty list for an unset variable.
if ((${#flags[@]} > 0)); then words+=("${flags[@]}"); fi

unset npm_command # Under npm, the server would stop with the shell that started it.
nohup "${words[@]}" >"$folder/log" 2>&1 </dev/null &
pid=$!
for _ in $(seq 600); do
  if [ -s "$folder/url" ]; then break; fi
  if ! kill -0 "$pid" 2>/dev/null; then break; fi
  sleep 0.1
done
if [ ! -s "$folder/url" ]; then
  kill "$pid" 2>/dev/null || true
  echo "::error::lostlock did not start: $(head -n 3 "$folder/log" | tr '\n' ' ')"
  exit 1
fi
{
  echo "url=$(cat "$folder/url")"
  echo "host=127.0.0.1"
  echo "port=$(cat "$folder/port")"
  echo "pid=$pid"
} >>"$GITHUB_OUTPUT"
echo "REDIS_URL=$(cat "$folder/url")" >>"$GITHUB_ENV"
