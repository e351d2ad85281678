/** The license key alone determines the tenant of telemetry: nothing else in a request changes it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { embeddedDeployment } from '../end-to-end/deployment.ts';
import { type OiqProcess, read, signIn, startOiq } from '../end-to-end/oiq-process.ts';
import { eventually } from '../waiting.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-ingest-tenant-'));
let oiq: OiqProcess;
let token: string;
let licenseKey: string;
test.before(async () => {
  licenseKey = await embeddedDeployment(directory);
  oiq = await startOiq({ dataDirectory: directory });
  token = await signIn(oiq.http);
});
test.after.always(async () => {
  await oiq?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const attribute = (key: string) => ({ key, value: { stringValue: 'other' } });
const claims = ['tenant.id', 'tenant_id', 'tenantId', 'oiq.tenant', 'organization.id'].map(attribute);
const body = (text: string): string =>
  JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: [...claims, { key: 'service.name', value: { stringValue: 'claims' } }] },
        scopeLogs: [
          {
            scope: { name: 's', attributes: claims },
            logRecords: [{ timeUnixNano: `${Date.now()}000000`, body: { stringValue: text }, attributes: claims }],
          },
        ],
      },
    ],
  });

const headers = {
  'X-Scope-OrgID': 'other',
  'X-Tenant-Id': 'other',
  'X-Tenant': 'other',
  'X-Prometheus-Tenant': 'other',
  tenant: 'other',
};

test('attributes, headers and queries that name another organization have no effect', async (t) => {
  const addresses = [`${oiq.otlp}/v1/logs`, `${oiq.http}/otlp/v1/logs`, `${oiq.otlp}/v1/logs?tenantId=other`];
  for (const [index, address] of addresses.entries()) {
    const response = await fetch(address, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'x-license-key': licenseKey },
      body: body(`claim ${index}`),
    });
    t.is(response.status, 200, await response.text());
  }
  let found: { body: string; attributes: Record<string, unknown> }[] = [];
  await eventually('all to be found', async () => {
    found = (await read<{ items: typeof found }>(oiq.http, '/api/logs?service=claims', token)).items;
    return found.length >= addresses.length;
  });
  t.deepEqual(found.map((record) => record.body).sort(), ['claim 0', 'claim 1', 'claim 2']);
  for (const { attributes } of found) t.is(attributes['tenant.id'], 'other', 'sent attributes are stored unchanged');
});
