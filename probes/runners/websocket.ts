import type { ClientRequest, IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import type { z } from 'zod';
import { judgeAssertions, type Observation } from '../../subjects/synthetics/assertions.ts';
import { truncate } from '../../subjects/synthetics/cut.ts';
import type { websocket } from '../../subjects/synthetics/types/websocket.ts';
import { readCertificate } from '../certificate.ts';
import { reportPhases } from '../http-hop.ts';
import { createRunHeaders, lowerCaseNames, userAgent } from '../own-headers.ts';
import { removeBrackets } from '../reach.ts';
import { maxResponseBytes, StepFailure } from '../runner.ts';
import { createOneStepRunner } from './one-step.ts';

const parseWebSocketUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'ws:' && url.protocol !== 'wss:'))
    throw new StepFailure(`${truncate(text, 200)} is not a ws or wss address`);
  url.hash = '';
  url.username = '';
  url.password = '';
  return url;
};

/** Assertion sources that need the message content */
const messageSources = new Set(['body', 'json', 'xml', 'size']);

const readHandshake = (response: IncomingMessage, host: string): Observation => {
  const certificate = response.socket instanceof TLSSocket ? readCertificate(response.socket, host) : undefined;
  return {
    headers: Object.fromEntries(Object.entries(response.headersDistinct).map(([name, values]) => [name, values ?? []])),
    ...(certificate !== undefined && { certificate }),
  };
};

export const runWebsocket = createOneStepRunner<z.output<(typeof websocket)['settings']>>(
  'lookup',
  ({ url }) => parseWebSocketUrl(url).hostname,
  async ({ url: text, headers, protocols, send, verifyCertificate, assertions }, attempt) => {
    const { clock, reached, signal } = attempt;
    const messageAssertions = assertions.filter(({ source }) => messageSources.has(source));
    const url = parseWebSocketUrl(text);
    clock.enter('connect');
    const options = {
      headers: { 'user-agent': userAgent, ...lowerCaseNames(headers), ...createRunHeaders(attempt) },
      lookup: reached.lookup,
      rejectUnauthorized: verifyCertificate,
      maxPayload: maxResponseBytes,
      perMessageDeflate: false,
      finishRequest: (request: ClientRequest): void => {
        reportPhases(request, clock, url.protocol === 'wss:');
        request.end();
      },
    };
    const socket = new WebSocket(url, protocols, options);
    const stop = (): void => socket.terminate();
    signal.addEventListener('abort', stop, { once: true });
    try {
      return { observation: await exchange() };
    } finally {
      signal.removeEventListener('abort', stop);
      // Errors while the socket is closed are ignored.
      socket.on('error', () => undefined);
      socket.terminate();
    }

    function exchange(): Promise<Observation> {
      return new Promise((resolve, reject) => {
        let handshake: Observation = {};
        let latestMessage: Observation = {};
        const toObservation = (): Observation => ({ ...handshake, protocol: socket.protocol, ...latestMessage });
        socket.once('error', reject);
        socket.once('unexpected-response', (_, response: IncomingMessage) =>
          reject(new StepFailure(`${url.host} answered ${response.statusCode} instead of opening a WebSocket`)),
        );
        socket.once('upgrade', (answer: IncomingMessage) => {
          handshake = readHandshake(answer, removeBrackets(url.hostname));
        });
        socket.once('open', () => {
          if (messageAssertions.length > 0) clock.enter('receive');
          if (send === null) {
            if (messageAssertions.length === 0) resolve(toObservation());
            return;
          }
          socket.send(send, (error) => {
            if (error) reject(error);
            else if (messageAssertions.length === 0) resolve(toObservation());
          });
        });
        socket.on('message', (message) => {
          // Complete messages are buffers by default.
          const bytes = message as Buffer;
          latestMessage = { body: bytes.toString('utf8'), size: bytes.length };
          if (messageAssertions.length > 0 && judgeAssertions(messageAssertions, latestMessage).outcome === 'passed')
            resolve(toObservation());
        });
        // The assertions also judge a connection without a message. A connection that never opened has its own error.
        socket.once('close', () =>
          signal.aborted ? reject(new Error('the time limit was exceeded')) : resolve(toObservation()),
        );
      });
    }
  },
);
