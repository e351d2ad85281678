import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { z } from 'zod';
import type { tls } from '../../subjects/synthetics/types/tls.ts';
import { readCertificate } from '../certificate.ts';
import { toStepFailure } from '../failure.ts';
import { removeBrackets } from '../reach.ts';
import { createOneStepRunner } from './one-step.ts';

export const runTls = createOneStepRunner<z.output<(typeof tls)['settings']>>(
  'lookup',
  ({ host }) => host,
  async ({ host: hostText, port, serverName, verifyCertificate }, { reached, clock, signal }) => {
    const host = removeBrackets(hostText);
    const name = serverName ?? host;
    clock.enter('connect');
    const servername = isIP(name) === 0 ? { servername: name } : {};
    // An untrusted certificate is still read and reported.
    const socket = connect({ host, port, lookup: reached.lookup, rejectUnauthorized: false, ...servername });
    const stop = (): void => {
      socket.destroy(new Error('the time limit was exceeded'));
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', () => clock.enter('tls'));
        socket.once('secureConnect', () => resolve());
        socket.once('error', reject);
        socket.once('end', () => reject(new Error('it closed the connection')));
      });
      const certificate = readCertificate(socket, host);
      const observation = {
        protocol: socket.getProtocol() ?? '',
        ...(certificate !== undefined && { certificate }),
      };
      if (!verifyCertificate || socket.authorized) return { observation };
      const { message } = toStepFailure(new Error(String(socket.authorizationError)), { host, phase: 'tls', signal });
      return { observation, message };
    } finally {
      signal.removeEventListener('abort', stop);
      socket.destroy();
    }
  },
);
