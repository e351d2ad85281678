/** From OpAMP to the fleet in one process: states, health and configuration of agents, also after a kill. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpAMPClient } from '@elastic/opamp-client-node';
import test from 'ava';
import {
  connect,
  type Fields,
  fullState,
  type OpampSocket,
  post,
  reportsAll,
  uidOf,
} from '../contract/opamp-client.ts';
import { freePorts } from '../services/ports.ts';
import { eventually } from '../waiting.ts';
import { embeddedDeployment } from './deployment.ts';
import { type Ports, read, signIn, startOiq } from './oiq-process.ts';

const intervalSeconds = 1;

interface Agent {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly reason: string;
  readonly instanceUid: string;
  readonly host: string;
  readonly health: { readonly failingComponent: { readonly path: readonly string[] } | null } | null;
}

interface AgentDetails extends Agent {
  readonly components: readonly { readonly path: readonly string[]; readonly isHealthy: boolean }[];
  readonly configuration: readonly { readonly text: string }[];
}

const uuidOf = (number: number): string =>
  uidOf(number)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** An agent that reconnects when its connection ends, and reports its full state on request. */
class ReconnectingAgent {
  readonly #fields: Fields;
  #sequence = 0;
  #isStopped = false;
  readonly ended: Promise<void>;
  fullStates = 0;

  constructor(url: string, licenseKey: string, fields: Fields) {
    this.#fields = fields;
    this.ended = this.#run(url, licenseKey);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.ended;
  }

  async #run(url: string, licenseKey: string): Promise<void> {
    while (!this.#isStopped) {
      const socket = await connect(url, { 'x-license-key': licenseKey }).catch(() => undefined);
      if (socket !== undefined) await this.#converse(socket).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #converse(socket: OpampSocket): Promise<void> {
    const send = (fields: Fields) => {
      this.#sequence++;
      return Promise.race([
        socket.send({ ...fields, sequenceNum: this.#sequence }),
        socket.closed.then(() => Promise.reject(new Error('the connection ended'))),
      ]);
    };
    let state: Fields = this.#sequence === 0 ? fullState(this.#fields) : this.#heartbeat;
    while (!this.#isStopped) {
      const { flags } = await send(state);
      if (flags === '1') this.fullStates++;
      state = flags === '1' ? fullState(this.#fields) : this.#heartbeat;
      if (flags !== '1') await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await send({ ...this.#heartbeat, agentDisconnect: {} });
    socket.socket.close();
  }

  get #heartbeat(): Fields {
    return { instanceUid: this.#fields['instanceUid'], capabilities: reportsAll };
  }
}

test('the fleet shows agents over OpAMP with their states, and all states are correct within two intervals after a kill', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'oiq-opamp-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const licenseKey = await embeddedDeployment(dataDirectory);
  const ports = (await freePorts(3)) as unknown as Ports;
  const start = () =>
    startOiq({ dataDirectory, ports, environment: { OIQ_OPAMP_HEARTBEAT_SECONDS: String(intervalSeconds) } });
  let oiq = await start();
  t.teardown(() => oiq.kill());
  let token = await signIn(oiq.http);
  const url = `${oiq.otlp}/v1/opamp`;
  const list = async () =>
    (await read<{ items: Agent[] }>(oiq.http, '/api/instrumentation/agents?scope=account', token)).items;
  const find = async (number: number) => (await list()).find(({ instanceUid }) => instanceUid === uuidOf(number));
  const stateIs = (number: number, state: string) =>
    eventually(`agent ${number} to be ${state}`, async () => (await find(number))?.state === state);

  const failing = {
    healthy: false,
    status: 'StatusRecoverableError',
    componentHealthMap: {
      'pipeline:traces': {
        healthy: false,
        componentHealthMap: {
          'exporter:otlp': {
            healthy: false,
            lastError: 'connection refused by https://joe:secret@backend.example.com',
          },
          'receiver:otlp': { healthy: true },
        },
      },
    },
  };
  const configuration = {
    configMap: {
      configMap: {
        '': { body: Buffer.from('exporters:\n  otlp:\n    headers:\n      x-license-key: abc-123-secret\n') },
      },
    },
  };
  const healthy = new ReconnectingAgent(url, licenseKey, { instanceUid: uidOf(1) });
  const degraded = new ReconnectingAgent(`${oiq.http}/otlp/v1/opamp`, licenseKey, {
    instanceUid: uidOf(2),
    health: failing,
    effectiveConfig: configuration,
  });
  t.teardown(() => Promise.all([healthy.stop(), degraded.stop()]).then(() => undefined));
  await post(url, licenseKey, fullState({ instanceUid: uidOf(3) }));
  await post(url, licenseKey, fullState({ instanceUid: uidOf(4) }));
  await post(url, licenseKey, { instanceUid: uidOf(4), sequenceNum: 2, capabilities: reportsAll, agentDisconnect: {} });
  const client = createOpAMPClient({
    endpoint: url,
    headers: { 'x-license-key': licenseKey },
    instanceUid: uuidOf(5),
    heartbeatIntervalSeconds: 0.3,
  });
  client.setAgentDescription({
    identifyingAttributes: { 'service.name': 'checkout' },
    nonIdentifyingAttributes: { 'host.name': 'node-5' },
  });
  client.start();
  t.teardown(() => client.shutdown());

  const expectStates = async (): Promise<void> => {
    await stateIs(1, 'healthy');
    await stateIs(2, 'degraded');
    await stateIs(3, 'silent');
    await stateIs(4, 'gone');
  };
  await expectStates();
  await stateIs(5, 'healthy');
  t.like(await find(1), { title: 'OpenTelemetry Collector Contrib', host: 'node-1' });
  t.like(await find(5), { title: 'checkout', host: 'node-5' });
  t.regex((await find(3))?.reason ?? '', /not polled for \d+ seconds/);
  const shown = await find(2);
  t.is(shown?.reason, 'pipeline:traces / exporter:otlp fails: connection refused by https://backend.example.com');
  const details = await read<AgentDetails>(oiq.http, `/api/instrumentation/agents/${shown?.id}?scope=account`, token);
  t.deepEqual(
    details.components.map(({ path, isHealthy }) => [path.join('/'), isHealthy]),
    [
      ['pipeline:traces', false],
      ['pipeline:traces/exporter:otlp', false],
      ['pipeline:traces/receiver:otlp', true],
    ],
  );
  t.is(details.configuration[0]?.text, 'exporters:\n  otlp:\n    headers:\n      x-license-key: ****\n');

  await oiq.kill();
  oiq = await start();
  const startedAt = Date.now();
  token = await signIn(oiq.http);
  await expectStates();
  t.true(healthy.fullStates > 0 && degraded.fullStates > 0, 'the restarted process requests full states');
  t.log(`all states are right ${Date.now() - startedAt} ms after the start`);
  await healthy.stop();
  await stateIs(1, 'gone');
});
