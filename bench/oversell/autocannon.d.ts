/** The parts of autocannon that are used; it has no types of its own. */
declare module 'autocannon' {
  interface Result {
    requests: { average: number };
    latency: { p99: number };
    statusCodeStats: Record<string, { count: number }>;
    duration: number;
  }
  function autocannon(options: {
    url: string;
    method: 'POST';
    connections: number;
    duration: number;
    timeout: number;
  }): Promise<Result>;
  export = autocannon;
}
