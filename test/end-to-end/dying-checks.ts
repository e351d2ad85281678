/**
 * All roles that synthetic checks need, over embedded stores in one process:
 * `node dying-checks.ts DIRECTORY PORT INGEST [ROLE STAGE N]`. It kills itself when the role reaches the stage for the
 * N-th time; without a stage it runs until it is stopped.
 */
import { startProcessors } from '../../processors/index.ts';
import { startReceivers } from '../../receivers/index.ts';
import { startSinks } from '../../sinks/index.ts';
import { startHarness } from './api-harness.ts';
import { openDying } from './dying-ports.ts';
import { roleParts } from './harness-ports.ts';

const [directory = '', port, ingest, dying, stage, times] = process.argv.slice(2);
const environment = { OIQ_SECRET_KEY: 'k'.repeat(40) };
const { columns, documents, bus, living, close } = await openDying({ directory, stage, times: Number(times) });
const shared = roleParts(directory, {
  ...environment,
  OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0',
  OIQ_OTLP_HTTP_ADDRESS: `127.0.0.1:${ingest}`,
});
const portsOf = (role: string) => ({ ...(role === dying ? { columns, documents, bus } : living), ...shared });

const sinks = await startSinks({
  ...portsOf('sinks'),
  embedded: true,
  selectedNames: ['synthetic-runs', 'synthetic-states'],
});
const processors = await startProcessors({ ...portsOf('processors'), only: ['heartbeats'] });
const evaluators = await startProcessors({ ...portsOf('evaluators'), only: ['check-states'] });
const receivers = await startReceivers(portsOf('receivers'));
const api = await startHarness({ environment, port: Number(port), sharing: { ...portsOf('api'), directory } });
console.log('it runs');
process.once('SIGTERM', async () => {
  await api.close();
  for (const role of [receivers, evaluators, processors, sinks]) await role.stop();
  await close();
});
