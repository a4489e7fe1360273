/** Puts the writes that travel to resources among the messages of a timeline: the lab itself records those between clients and nodes. */
import type { StoryStep, Timeline, TimelineMessage } from '../../page/format.ts';

/** A write of a client that has reached a resource. Times are in microseconds, as those of the timeline. */
export interface ResourceSend {
  readonly client: string;
  readonly resource: string;
  readonly sent: number;
  readonly arrived: number;
}

/** The timeline with an arrow for each write, and the sentences about their arrivals at them. Messages stay in the order of sending. */
export function withSends(run: Timeline, sends: readonly ResourceSend[]): Timeline {
  if (sends.length === 0) return run;
  const order = [
    ...run.messages.map((message, index) => ({ message, index, send: undefined })),
    ...sends.map((send) => ({ message: messageOf(send), index: -1, send })),
  ].sort((a, b) => a.message.sent - b.message.sent);
  const places = new Map(order.map(({ index, send }, place) => [send ?? index, place]));
  const placeOf = (what: number | ResourceSend): number => places.get(what) ?? 0;
  return {
    ...run,
    messages: order.map(({ message }) =>
      message.cause === undefined ? message : { ...message, cause: placeOf(message.cause) },
    ),
    holds: run.holds.map((hold) =>
      hold.grant === undefined ? hold : { ...hold, grant: placeOf(hold.grant) },
    ),
    story: run.story.map((step) => {
      const { about } = step;
      if (about === undefined) {
        const send = sends.find((each) => isOfArrival(step, each));
        return send === undefined ? step : { ...step, about: { message: placeOf(send) } };
      }
      return 'message' in about ? { ...step, about: { message: placeOf(about.message) } } : step;
    }),
  };
}

function messageOf({ client, resource, sent, arrived }: ResourceSend): TimelineMessage {
  return {
    ...{ from: client, to: resource, port: '', kind: 'request', sent, due: arrived, arrived },
    ...{ bytes: '', text: 'write' },
  };
}

/** True for a sentence about the arrival of this write. */
function isOfArrival({ at, text }: StoryStep, { client, resource, arrived }: ResourceSend): boolean {
  return at === arrived && text.includes(resource) && new RegExp(`\\bwrite of ${client}\\b`).test(text);
}
