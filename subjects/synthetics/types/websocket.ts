import { z } from 'zod';
import { textsIn } from '../templates.ts';
import { hostIn, urlProblem } from './address.ts';
import { defineCheckType } from './definition.ts';
import { headerProblems, headers } from './sent-headers.ts';
import { assertions, problemsOf } from './socket-settings.ts';

/** What the handshake is made of. */
const isOfHandshake = (name: string): boolean => name.startsWith('sec-websocket-');

export const websocket = defineCheckType({
  type: 'websocket',
  name: 'WebSocket',
  summary: 'A WebSocket, what is sent over it, and a message that comes back.',
  settings: z.strictObject({
    url: z.string().min(1).max(4096).describe('Begins with ws:// or wss://'),
    headers: headers.describe('Of the handshake'),
    protocols: z
      .array(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'must be the name of a protocol'))
      .max(20)
      .default([])
      .describe('Subprotocols that are offered'),
    send: z.string().max(65_536).nullable().default(null).describe('A message that is sent as soon as it is open'),
    verifyCertificate: z.boolean().default(true),
    assertions: assertions.describe(
      'With one of body, json or size, messages are read until one holds; `protocol` is the subprotocol that was chosen',
    ),
  }),
  phases: ['lookup', 'connect', 'tls', 'send', 'wait', 'receive'],
  problems: ({ url, headers: given, protocols, assertions }) => {
    const wrong = urlProblem(url, ['ws', 'wss']);
    return [
      ...(wrong === undefined ? [] : [{ path: 'url', message: wrong }]),
      ...headerProblems(given, 'headers', isOfHandshake),
      ...protocols.flatMap((one, index) =>
        protocols.indexOf(one) === index ? [] : [{ path: `protocols.${index}`, message: 'is there twice' }],
      ),
      ...problemsOf(assertions, ['body', 'json', 'size', 'header', 'protocol', 'certificate', 'duration', 'phase']),
    ];
  },
  targets: (settings) => [{ path: 'url', host: hostIn(settings.url), texts: textsIn(settings) }],
});
