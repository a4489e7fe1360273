# lostlock as a container: docker build -t lostlock . && docker run -p 127.0.0.1:6379:6379 lostlock
# It listens on all addresses of the container and asks for no password, and says so in its log. With -p 6379:6379, everybody who
# reaches this machine could use it. There are two ways out: a password (docker run -p 6379:6379 lostlock --port 6379 --bind 0.0.0.0
# --requirepass WORD), or a network of its own (docker network create tests, then docker run --network tests, without -p).
FROM node:24.11-alpine AS build
WORKDIR /build
COPY . .
RUN npm ci --no-audit --no-fund && npm pack --ignore-scripts && mv lostlock-*.tgz lostlock.tgz

FROM node:24.11-alpine
COPY --from=build /build/lostlock.tgz /tmp/lostlock.tgz
RUN npm install --global --no-audit --no-fund /tmp/lostlock.tgz && npm cache clean --force && rm /tmp/lostlock.tgz
USER node
WORKDIR /home/node
EXPOSE 6379
HEALTHCHECK --interval=5s --timeout=3s --retries=5 CMD ["node", "-e", "require('node:net').connect(6379).setTimeout(2000, () => process.exit(1)).on('error', () => process.exit(1)).on('data', () => process.exit(0)).write('PING\\r\\n')"]
ENTRYPOINT ["lostlock"]
CMD ["--port", "6379", "--bind", "0.0.0.0", "--protected-mode", "no"]
