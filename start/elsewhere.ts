/** What nodes and Sentinels without a lab answer to its command. No server has it, so the text need not be a server's. */
export const ELSEWHERE = new Map([
  ['lab', "ERR unknown command 'LAB': this server has no lab; start lostlock with --lab"],
]);
