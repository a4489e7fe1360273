/** Takes the network and the storage away from the worker, because a link to the playground may bring code with it. */

const doors = [
  ...[
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'WebSocketStream',
    'EventSource',
    'WebTransport',
    'importScripts',
  ],
  ...[
    'indexedDB',
    'caches',
    'BroadcastChannel',
    'Worker',
    'SharedWorker',
    'Notification',
    'RTCPeerConnection',
  ],
];

for (const name of doors) {
  // Most of them are properties of a prototype of the global object: one of its own hides it.
  if (name in globalThis) Object.defineProperty(globalThis, name, { value: undefined });
}
