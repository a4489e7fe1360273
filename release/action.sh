#!/usr/bin/env bash
# Starts lostlock for the rest of a job, and writes its address to the outputs of the step. The inputs come as environment variables.
set -euo pipefail

folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/lostlock.XXXXXX")
read -r -a words <<<"${LOSTLOCK:-npx --yes lostlock@${VERSION:-latest}}"
words+=(--port "${PORT:-6379}" --port-file "$folder/port" --url-file "$folder/url")
case ${KIND:-server} in
  server) ;;
  sentinel) words+=(--replicas 2 --sentinels 3) ;;
  cluster) words+=(--cluster 3 --replicas 1) ;;
  *) echo "::error::kind is '$KIND': must be server, sentinel or cluster"; exit 1 ;;
esac
if [ -n "${PASSWORD:-}" ]; then words+=(--requirepass "$PASSWORD"); fi
if [ -n "${DIALECT:-}" ]; then words+=(--dialect "$DIALECT"); fi
if [ -n "${FLAGS:-}" ]; then
  read -r -a flags <<<"$FLAGS"
  words+=("${flags[@]}")
fi

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
