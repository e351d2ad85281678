import { z } from 'zod';
import { listTexts } from '../templates.ts';
import { findUrlProblem, parseHost } from './address.ts';
import { defineCheckType } from './definition.ts';
import { findHeaderProblems, headers } from './sent-headers.ts';
import { assertions, findProblems } from './socket-settings.ts';

/** Headers of the handshake */
const isHandshakeHeader = (name: string): boolean => name.startsWith('sec-websocket-');

export const websocket = defineCheckType({
  type: 'websocket',
  name: 'WebSocket',
  summary: 'A WebSocket, a message sent over it, and a received message.',
  settings: z.strictObject({
    url: z.string().min(1).max(4096).describe('URL that begins with `ws://` or `wss://`'),
    headers: headers.describe('Headers of the handshake'),
    protocols: z
      .array(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'must be the name of a protocol'))
      .max(20)
      .default([])
      .describe('Offered subprotocols'),
    send: z.string().max(65_536).nullable().default(null).describe('Message sent when the connection is open'),
    verifyCertificate: z.boolean().default(true),
    assertions: assertions.describe(
      'Assertions; with one on `body`, `json` or `size`, messages are read until one matches; `protocol` is the selected subprotocol',
    ),
  }),
  phases: ['lookup', 'connect', 'tls', 'send', 'wait', 'receive'],
  problems: ({ url, headers: handshakeHeaders, protocols, assertions }) => {
    const urlProblem = findUrlProblem(url, ['ws', 'wss']);
    return [
      ...(urlProblem === undefined ? [] : [{ path: 'url', message: urlProblem }]),
      ...findHeaderProblems(handshakeHeaders, 'headers', isHandshakeHeader),
      ...protocols.flatMap((protocol, index) =>
        protocols.indexOf(protocol) === index ? [] : [{ path: `protocols.${index}`, message: 'is repeated' }],
      ),
      ...findProblems(assertions, [
        'body',
        'json',
        'xml',
        'size',
        'header',
        'protocol',
        'certificate',
        'duration',
        'phase',
      ]),
    ];
  },
  targets: (settings) => [{ path: 'url', host: parseHost(settings.url), texts: listTexts(settings) }],
});
