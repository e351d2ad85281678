/**
 * `node bin/node.mjs test/cases/probes/endless-runs.ts URL PROGRAM`: runs a check in a browser until it is killed or
 * its output is closed, and prints the start and end of each run.
 */
import { lookup } from 'node:dns';
import { RateLimiter } from '../../../probes/pace.ts';
import { runCheck } from '../../../probes/run-check.ts';
import { createEgressPolicy } from '../../../runtime/egress-policy.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';

export type RunMessage = 'began' | { readonly outcome: string; readonly message: string };

const [url = '', program = ''] = process.argv.slice(2);
const steps = [
  { action: 'goto', url },
  { action: 'fill', target: { by: 'label', label: 'Name' }, text: 'ann' },
  { action: 'click', target: { by: 'role', role: 'button', name: 'Sign in' } },
];
const browser = { steps };
const fields = { name: 'shop', type: 'browser', every: '1m', timeout: '60s', retries: { count: 0 }, browser };
const check = { id: 'c', ...CheckFields.parse(fields) };
const egressPolicy = createEgressPolicy({ allowedNetworks: ['127.0.0.0/8'], setting: 'x', resolve: lookup });
const around = {
  egressPolicy,
  pace: new RateLimiter(),
  signal: new AbortController().signal,
  chromium: { program, hasSandbox: false },
};

const send = (message: RunMessage): void => void process.send?.(message);

process.once('disconnect', () => process.exit());
for (;;) {
  send('began');
  const { outcome, message } = await runCheck({ check, variables: {}, location: 'here' }, around);
  send({ outcome, message });
}
