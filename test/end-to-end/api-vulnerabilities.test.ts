/** Imports of scanner reports, and the list of vulnerabilities by priority. */
import test from 'ava';
import { zipSync } from 'fflate';
import { vulnerabilityFindings } from '../../processors/vulnerabilities/vulnerability-findings.ts';
import type { VulnerabilityRecord } from '../../schemas/vulnerability-findings.ts';
import { landIn } from '../cases/sink-tables.ts';
import { reports } from '../cases/vulnerabilities/reports.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { landOtlp, resourceOf } from './land-otlp.ts';

let harness: Harness;
const nowMs = Math.floor(Date.now() / 1000) * 1000;

test.before(async () => {
  harness = await startHarness({ now: () => nowMs });
  await landOtlp(harness.columns, {
    signal: 'logs',
    request: {
      resourceLogs: [
        {
          resource: resourceOf({
            'service.name': 'shop',
            'container.image.name': 'registry.example/shop',
            'container.image.tag': '1.2',
          }),
          scopeLogs: [{ logRecords: [{ timeUnixNano: `${nowMs - 1_000}000000`, body: { stringValue: 'x' } }] }],
        },
      ],
    },
    atMs: nowMs - 1_000,
  });
});
test.after.always(() => harness?.close());

const get = async (query = '') => {
  const { status, body } = await harness.request('GET', `/api/security/vulnerabilities${query}`, { as: 'viewer' });
  if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`);
  return body;
};
const send = (content: unknown, query = '', type = 'application/json') =>
  fetchImport(
    typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content),
    query,
    type,
  );

const fetchImport = async (body: string | Uint8Array, query: string, type: string) => {
  const token = await harness.signIn('editor@a.example');
  const response = await fetch(`${harness.url}/api/security/vulnerabilities/import${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    body: typeof body === 'string' ? body : Buffer.from(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: responses have many shapes
  return { status: response.status, body: (await response.json()) as any };
};

test.serial('reports of two scanners about an image are one list, and a repeated import changes nothing', async (t) => {
  const { status, body } = await send(reports.trivy);
  t.is(status, 200, JSON.stringify(body));
  t.deepEqual(body, {
    format: 'trivy',
    target: reports.imageId,
    new: 2,
    unchanged: 0,
    fixed: 0,
    reopened: 0,
    packages: 2,
    problems: [],
  });
  t.like((await send(reports.trivy)).body, { new: 0, unchanged: 2, fixed: 0 });
  t.like((await send(reports.grype, '?dryRun=true')).body, { new: 1, unchanged: 2 });
  t.is((await get()).total, 2);
  t.like((await send(reports.grype)).body, { new: 1, unchanged: 2 });
  const { items, total } = await get();
  t.is(total, 3);
  const [openssl] = items.filter(({ package: item }: { package: { name: string } }) => item.name === 'openssl-libs');
  t.like(openssl, {
    vulnerability: 'CVE-2021-3712',
    running: 'running',
    services: ['shop'],
    cvss: 7.4,
    status: 'open',
    state: 'open',
  });
  t.deepEqual(
    openssl.sources.map(({ scanner }: { scanner: string }) => scanner),
    ['grype', 'trivy'],
  );
  t.is((await get('?groupBy=package')).groups.length, 3);
  t.is((await get('?running=running&package=openssl-libs')).total, 1);
});

test.serial(
  'a report about a cluster has findings of each image, and agrees with a report about one of them',
  async (t) => {
    const { Metadata, Results } = reports.trivy;
    const image = { Namespace: 'shop', Kind: 'Deployment', Name: 'shop', Metadata: [Metadata], Results };
    const other = {
      ...image,
      Name: 'other',
      Metadata: [{ ImageID: `sha256:${'c'.repeat(64)}`, RepoTags: ['other:1'] }],
    };
    const { status, body } = await send({ ClusterName: 'production', Resources: [image, other] }, '?dryRun=true');
    t.is(status, 200, JSON.stringify(body));
    t.like(body, { format: 'trivy-k8s', target: 'production', new: 2, unchanged: 2, fixed: 0, problems: [] });
  },
);

test.serial(
  'only complete reports of a scanner mark missing findings as fixed, and later reports reopen them',
  async (t) => {
    const [first] = reports.trivy.Results;
    const without = { ...reports.trivy, Results: [{ ...first, Vulnerabilities: first?.Vulnerabilities.slice(0, 1) }] };
    t.like((await send({ ...reports.trivy, Results: [] })).body, { fixed: 0 });
    // Grype still reports it.
    t.like((await send(without)).body, { fixed: 0, unchanged: 1 });
    const matches = reports.grype.matches.filter(({ vulnerability }) => vulnerability.id !== 'GHSA-aaaa-bbbb-cccc');
    t.like((await send({ ...reports.grype, matches })).body, { fixed: 1, unchanged: 2 });
    t.is((await get('?status=fixed')).total, 1);
    t.like((await send(reports.trivy)).body, { reopened: 1, unchanged: 1 });
  },
);

test.serial(
  'known exploitation, scores and statements are shown without a change of what scanners report',
  async (t) => {
    t.like((await send({ catalogVersion: '1', vulnerabilities: [{ cveID: 'CVE-2021-3712' }] })).body, {
      format: 'kev',
      new: 1,
      target: null,
    });
    t.like(
      (await send('#model_version:v1\ncve,epss,percentile\nCVE-2021-3712,0.5,0.9\nbroken,x\n', '', 'text/csv')).body,
      {
        format: 'epss',
        new: 1,
        problems: [{ path: 'line 4' }],
      },
    );
    const vex = {
      '@context': 'https://openvex.dev/ns/v0.2.0',
      '@id': 'https://example.com/vex',
      statements: [
        {
          vulnerability: { name: 'CVE-2021-3712' },
          products: [{ '@id': 'pkg:rpm/alma/openssl-libs' }],
          status: 'not_affected',
          justification: 'vulnerable_code_not_present',
        },
      ],
    };
    t.like((await send(vex)).body, { format: 'openvex', new: 1 });
    const [item] = (await get('?vulnerability=CVE-2021-3712')).items;
    t.like(item, { isKnownExploited: true, epss: 0.5, priority: 'critical', status: 'open' });
    t.like(item.vex[0], { status: 'not_affected' });
    const { body } = await harness.request('PATCH', `/api/security/vulnerabilities/${item.id}`, {
      as: 'editor',
      body: { state: 'ignored', reason: 'see the statement' },
    });
    t.like(body, { state: 'ignored', status: 'open' });
    t.is((await get('?state=ignored')).total, 1);
    const bill = {
      ...reports.cyclonedx,
      metadata: { ...reports.cyclonedx.metadata, component: { type: 'application', name: 'stated' } },
      components: [{ type: 'library', 'bom-ref': 'c', name: 'a', version: '1', purl: 'pkg:npm/a@1' }],
      vulnerabilities: [{ id: 'CVE-2026-7', affects: [{ ref: 'c' }], analysis: { state: 'in_triage' } }],
    };
    t.like((await send(bill)).body, { new: 1 });
    t.like((await send(bill, '?target=other')).body, { new: 1, target: 'other' });
    t.like(
      (await send({ ...bill, vulnerabilities: [{ ...bill.vulnerabilities[0], analysis: {} }] }, '?target=other')).body,
      {
        unchanged: 1,
      },
    );
    const { items } = await get('?vulnerability=CVE-2026-7');
    const statuses = items.map(({ target, vex: stated }: { target: { id: string }; vex: { status: string }[] }) => [
      target.id,
      ...stated.map(({ status }) => status),
    ]);
    t.deepEqual(statuses.toSorted(), [['other'], ['stated', 'under_investigation']]);
  },
);

test.serial(
  'a new advisory is compared with the packages of stored bills of materials, by the order of versions',
  async (t) => {
    t.like((await send(reports.cyclonedx)).body, { format: 'cyclonedx', packages: 2, target: 'shop-api' });
    const archive = zipSync({
      'GHSA-1.json': Buffer.from(JSON.stringify(reports.advisory)),
      'broken.json': Buffer.from('{'),
    });
    const { body } = await send(archive, '', 'application/zip');
    t.like(body, { format: 'osv', new: 1, problems: [{ path: 'broken.json' }] });
    const { items } = await get('?target=shop-api');
    t.is(items.length, 1);
    t.like(items[0], {
      vulnerability: 'CVE-2026-1000',
      package: { name: 'lodash', version: '4.17.9' },
      fixedVersions: ['4.17.10'],
    });
  },
);

const recordStates = new Map<string, unknown>();
let recordedTimes = 0;

/** Runs the schedule of all reports once and stores its output. Returns the records. */
const recordFindings = async (dueMs: number): Promise<VulnerabilityRecord[]> => {
  const { collection, state, everyMs } = vulnerabilityFindings;
  const { items } = await harness.documents.forTenant('a').collection(collection).list({ limit: 1_000 });
  const records: VulnerabilityRecord[] = [];
  for (const source of items) {
    if (everyMs(source) === undefined) continue;
    const next = await vulnerabilityFindings.run(source, {
      tenantId: 'a',
      dueMs,
      state: structuredClone(recordStates.get(source.id) ?? state.empty()),
      emit: { findings: (record) => void records.push(record as VulnerabilityRecord) },
      canWait: false,
      signal: new AbortController().signal,
      ports: { columns: harness.columns, documents: harness.documents },
    });
    recordStates.set(source.id, state.schema.parse(next));
  }
  const landedMs = nowMs - 1_000 + recordedTimes++;
  await landIn(harness.columns)(
    records.map((record, offset) => ({
      offset,
      timestampMs: dueMs,
      headers: { tenant: 'a' },
      // The API's clock does not advance.
      value: Buffer.from(JSON.stringify([{ ...record, timeMs: landedMs }])),
    })),
    { sink: 'vulnerability-findings' },
  );
  return records;
};

test.serial('alert rules find exploited vulnerabilities in images that run, as long as they are open', async (t) => {
  const open = (await get()).total;
  const records = await recordFindings(Date.now());
  t.is(records.filter(({ status }) => status === 'open').length, open);
  t.is(new Set(records.map(({ findingId }) => findingId)).size, records.length, 'each finding is recorded once');
  t.deepEqual(await recordFindings(Date.now() + 1), [], 'nothing changed');
  const rule = {
    name: 'Exploited vulnerabilities in running images',
    interval: '5m',
    condition: {
      kind: 'threshold',
      window: '2h',
      query: {
        kind: 'aggregate',
        signal: 'vulnerabilities',
        search: 'exploited:yes AND running:(running OR exposed) AND status:open',
        measures: [{ function: 'distinct', field: 'id' }],
        groupBy: ['vulnerability', 'image', 'priority'],
      },
      thresholds: [{ severity: 'critical', operator: 'above', value: 0 }],
    },
  };
  const preview = async () => {
    const { status, body } = await harness.request('POST', '/api/alerts/rules/preview', { as: 'editor', body: rule });
    t.is(status, 200, JSON.stringify(body));
    t.is(body.error, null);
    return body.groups;
  };
  const groups = await preview();
  t.is(groups.length, 1, JSON.stringify(groups));
  t.like(groups[0].labels, {
    vulnerability: 'CVE-2021-3712',
    image: 'registry.example/shop:1.2',
    priority: 'critical',
  });
  // Only Grype scans the other targets. For the image, both scanners must no longer report a finding.
  const matches = reports.grype.matches.filter(({ vulnerability }) => vulnerability.id !== 'CVE-2021-3712');
  const [first] = reports.trivy.Results;
  await send({ ...reports.grype, matches });
  await send({ ...reports.trivy, Results: [{ ...first, Vulnerabilities: first?.Vulnerabilities.slice(1) }] });
  const changed = await recordFindings(Date.now() + 2);
  t.true(changed.some(({ vulnerability, status }) => vulnerability === 'CVE-2021-3712' && status === 'fixed'));
  t.true(
    changed.every(({ targetId }) => targetId === reports.imageId),
    'reports of other targets are not recorded again',
  );
  t.deepEqual(await preview(), []);
});

for (const [name, content, message] of [
  ['cut short', JSON.stringify(reports.trivy).slice(0, 300), /JSON/],
  ['of an unknown form', '{"hello":1}', /is none of/],
  ['nested too deeply', '['.repeat(5_000), /deeper/],
  ['a damaged archive', Buffer.from('PK\u0003\u0004 broken'), /archive/],
  ['empty', ' ', /JSON/],
] as const)
  test(`a report that is ${name} is refused with the reason`, async (t) => {
    const { status, body } = await send(content, '', 'application/octet-stream');
    t.is(status, 400);
    t.regex(JSON.stringify(body), message);
  });
