/** What to do about a dead letter. A replay publishes what was sent, unchanged. */

const sameAgain = 'Change the sender, and send again: a replay would be refused again.';

/** By reason; reasons of consumers are not listed. */
const actions: Readonly<Record<string, string>> = {
  'too-large': `send smaller batches. ${sameAgain}`,
  'record-too-large': `one record is larger than the maximum message size: shorten its body or attributes. ${sameAgain}`,
  'too-deep': `reduce the nesting of attribute values. ${sameAgain}`,
  'bad-encoding': `Content-Encoding must be the compression of the body, and the whole body must be compressed. ${sameAgain}`,
  'bad-id': `trace ids must have 16 bytes and span ids 8, and those of a span must not be only zeros. ${sameAgain}`,
  'wrong-time-unit': `send times in the unit of the protocol: OTLP and Loki nanoseconds, Zipkin microseconds, remote-write milliseconds. ${sameAgain}`,
  'time-too-old':
    'check the clock of the sender, or choose a plan that retains data for longer. A replay stores the records if the plan then retains their time.',
  'time-in-future':
    'check the clock and the time zone of the sender. A replay stores the records once their time has come.',
  'bad-time': `check the clock of the sender, and the unit of its times. ${sameAgain}`,
  'no-records': `check that the path belongs to the signal, and the names of the body: OTLP/JSON is in lowerCamelCase, as in resourceLogs. ${sameAgain}`,
  'bad-labels': `label names must be valid, sorted and unique. ${sameAgain}`,
};

/** Returns what to do about a dead letter, in words; `kind` is that of the dead letter. */
export const getDeadLetterAction = (reason: string, kind: string): string =>
  kind === 'unprocessable'
    ? 'the sender need not do anything. Replay it after the cause is removed, or with a version that can read it.'
    : (actions[reason] ??
      `check that Content-Type matches the body (OTLP protobuf or JSON), and that no proxy changes the body. ${sameAgain}`);
