import { connect } from 'node:net';
import type { z } from 'zod';
import { judgeAssertions, type Observation } from '../../subjects/synthetics/assertions.ts';
import type { tcp } from '../../subjects/synthetics/types/tcp.ts';
import { createOneStepRunner } from './one-step.ts';

/** Maximum bytes of the response that are read */
const maxBytes = 65_536;

export const runTcp = createOneStepRunner<z.output<(typeof tcp)['settings']>>(
  'lookup',
  ({ host }) => host,
  async ({ host, port, send, assertions }, { reached, clock, signal }) => {
    const bodyAssertions = assertions.filter(({ source }) => source === 'body' || source === 'size');
    clock.enter('connect');
    const socket = connect({ host, port, lookup: reached.lookup });
    const stop = (): void => {
      socket.destroy(new Error('the time limit was exceeded'));
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      return { observation: await exchange() };
    } finally {
      signal.removeEventListener('abort', stop);
      socket.destroy();
    }

    function exchange(): Promise<Observation> {
      return new Promise((resolve, reject) => {
        let received = Buffer.alloc(0);
        const toObservation = (): Observation => ({ body: received.toString('utf8'), size: received.length });
        socket.once('error', reject);
        socket.once('connect', () => {
          clock.enter('send');
          if (bodyAssertions.length === 0 && send === null) return resolve(toObservation());
          const onSent = (): void => {
            if (clock.current === 'send') clock.enter('wait');
            if (bodyAssertions.length === 0) resolve(toObservation());
          };
          if (send === null) onSent();
          else socket.write(send, () => onSent());
        });
        socket.on('data', (chunk) => {
          if (clock.current !== 'receive') clock.enter('receive');
          received = Buffer.concat([received, chunk]).subarray(0, maxBytes);
          const isPassed = judgeAssertions(bodyAssertions, toObservation()).outcome === 'passed';
          if (received.length >= maxBytes || (bodyAssertions.length > 0 && isPassed)) resolve(toObservation());
        });
        // The assertions also apply to a connection that ended without a response.
        socket.once('end', () => resolve(toObservation()));
      });
    }
  },
);
