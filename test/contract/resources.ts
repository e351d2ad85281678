/** Contract of every configuration resource, generated from the registry, with any store. */
import test, { type ExecutionContext } from 'ava';
import { operations, resources } from '../../api/groups/index.ts';
import type { RegisteredResource } from '../../api/resources/resource.ts';
import { readVersion, readVersions } from '../../api/resources/resource-history.ts';
import { type ResourceChange, watchCollection } from '../../runtime/resource-cache.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { references } from '../../schemas/resources/references.ts';
import { maxVersions } from '../../schemas/resources/resource-history.ts';
import { type Answer, type Harness, startHarness, withRetries } from '../end-to-end/api-harness.ts';
import { describePart, selectPart } from '../parts.ts';
import { eventually } from '../waiting.ts';
import { type Fields, newBody, referringTo, resourceOf, textField } from './resource-bodies.ts';

/** Fields that an operation adds to the view of a created resource, returned once. */
const shownOnce: Readonly<Record<string, readonly string[]>> = { 'license-key': ['key'] };

/** Uses the embedded store without `open`. A run selects one in `parts` of the resources. */
export const resourcesContract = (
  store: string,
  { open, parts = 1 }: { readonly open?: () => Promise<Documents>; readonly parts?: number } = {},
): void => {
  let harness: Harness;
  test.before(async () => {
    harness = withRetries(await startHarness({ openDocuments: open, runsJobs: false }));
    // The other organization has every entitlement too, so that its plan refuses nothing.
    const { enterprise } = defaultPlans;
    await harness.documents
      .forTenant(plansTenant)
      .collection(plans)
      .update('free', { ...enterprise });
  });
  test.after.always(() => harness?.close());

  const bodyFor = (resource: RegisteredResource, as?: `token ${string}`): Promise<Fields> =>
    newBody(resource, async (one) => (await make(one, as)).id);

  const make = async (resource: RegisteredResource, as?: `token ${string}`): Promise<Fields & { id: string }> => {
    const options = as === undefined ? {} : { as };
    const response = await harness.request('POST', resource.path, { ...options, body: await bodyFor(resource, as) });
    if (response.status !== 200) throw new Error(`${resource.noun}: ${JSON.stringify(response.body)}`);
    return response.body;
  };

  const pathOf = ({ path }: RegisteredResource, id: unknown): string => `${path}/${id}`;
  const read = async (resource: RegisteredResource, id: unknown): Promise<Answer> =>
    harness.request('GET', pathOf(resource, id));

  /** How the resource changes single fields. */
  const writeVerb = ({ verbs }: RegisteredResource) =>
    verbs.includes('patch') ? 'PATCH' : verbs.includes('update') ? 'PUT' : undefined;

  /** Changes one text field in any supported way. */
  const change = async (
    resource: RegisteredResource,
    id: unknown,
    text: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const field = textField(resource);
    const method = writeVerb(resource);
    const current = await read(resource, id);
    const body = method === undefined ? { ...current.body, [field]: text } : { [field]: text };
    const guard: Record<string, string> = resource.requiresIfMatch
      ? { 'if-match': current.headers.get('etag') ?? '' }
      : {};
    return harness.request(method ?? 'PUT', pathOf(resource, id), { body, headers: { ...guard, ...headers } });
  };

  const recordsOf = async ({ type }: RegisteredResource, id: unknown) =>
    (
      await harness.documents
        .forTenant('a')
        .collection(auditRecords)
        .list({ filter: { 'resource.type': type, 'resource.id': id }, sort: { sequence: 1 } })
    ).items;

  const refused = (t: ExecutionContext, response: Answer, status: number, code: string, pattern: RegExp): void => {
    t.is(response.status, status, JSON.stringify(response.body));
    t.is(response.body.error, code);
    t.regex(response.body.message, pattern);
  };

  const chosen = selectPart(resources, parts);
  /** Resources of which a run writes more versions than are retained. */
  const writtenOften = new Set(selectPart(chosen, 5));
  test(`${store}: resources are selected at random`, (t) => {
    t.log(
      describePart(
        chosen.map(({ noun }) => noun),
        resources,
      ),
    );
    t.true(chosen.length > 0);
  });
  for (const resource of chosen) {
    const { noun, type, fields, verbs } = resource;
    const titled = (title: string, run: (t: ExecutionContext) => Promise<unknown>): void =>
      void test.serial(`${store}: ${noun}: ${title}`, run);
    const field = textField(resource);
    const deletable = verbs.includes('delete');
    /** References that can prevent a deletion. */
    // The routing document also has references, but is not a resource: it has separate tests.
    const referring = references
      .filter(({ to }) => deletable && to === resource.collection)
      .filter(({ from }) => resources.some(({ collection }) => collection === from));
    const referred = references.filter(({ from }) => from === resource.collection);
    const unique = resource.collection.unique ?? [];

    titled('what is created is read back', async (t) => {
      const shown = await make(resource);
      for (const name of shownOnce[type] ?? []) delete shown[name];
      const response = await read(resource, shown.id);
      t.is(response.status, 200);
      t.deepEqual(response.body, shown);
      t.is(response.headers.get('etag'), '"1"');
    });

    titled('all are listed, page by page, each once', async (t) => {
      const created = [await make(resource), await make(resource), await make(resource)];
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const page: Answer = await harness.request('GET', `${resource.path}?limit=2&sort=-createdAt${from}`);
        t.is(page.status, 200);
        t.true(page.body.items.length <= 2);
        seen.push(...page.body.items.map(({ id }: { id: string }) => id));
        cursor = page.body.nextCursor;
      }
      t.is(new Set(seen).size, seen.length);
      for (const { id } of created) t.true(seen.includes(id));
    });

    titled('a list finds by text, and refuses a cursor of another order', async (t) => {
      const created = await make(resource);
      const text = encodeURIComponent(String(created['name'] ?? created[field]).toUpperCase());
      const found = await harness.request('GET', `${resource.path}?search=${text}`);
      t.deepEqual(
        found.body.items.map(({ id }: { id: string }) => id),
        [created.id],
      );
      for (const none of ['.*', '%00'])
        t.deepEqual((await harness.request('GET', `${resource.path}?search=${none}`)).body.items, []);
      await make(resource);
      const page = await harness.request('GET', `${resource.path}?limit=1&sort=createdAt`);
      const other = `${resource.path}?limit=1&sort=-createdAt&cursor=${page.body.nextCursor}`;
      refused(t, await harness.request('GET', other), 400, 'VALIDATION_FAILED', /cursor|list/);
    });

    titled('what was read can be sent back as it is: nothing changes, no version, no record', async (t) => {
      const { id } = await make(resource);
      const before = await read(resource, id);
      const records = await recordsOf(resource, id);
      const headers = { 'if-match': before.headers.get('etag') ?? '' };
      for (const method of ['PUT', 'PATCH']) {
        if (!verbs.some((verb) => (method === 'PUT' ? ['replace', 'update'] : ['patch']).includes(verb))) continue;
        const response = await harness.request(method, pathOf(resource, id), { body: before.body, headers });
        t.is(response.status, 200, JSON.stringify(response.body));
        t.deepEqual(response.body, before.body);
        t.is(response.headers.get('etag'), before.headers.get('etag'));
      }
      t.deepEqual(await recordsOf(resource, id), records);
    });

    titled('a change of one field leaves every other as it was', async (t) => {
      const { id } = await make(resource);
      const before = await read(resource, id);
      const response = await change(resource, id, `changed ${id}`);
      t.is(response.status, 200, JSON.stringify(response.body));
      const expected = { ...before.body, [field]: `changed ${id}`, version: 2, updatedAt: response.body.updatedAt };
      t.deepEqual(response.body, expected);
      t.is(response.headers.get('etag'), '"2"');
      t.deepEqual((await read(resource, id)).body, expected);
    });

    if (writeVerb(resource) !== undefined)
      titled(
        'a field that is not known is refused, and null takes a field back to its default, unless the rest needs it',
        async (t) => {
          const method = writeVerb(resource) ?? '';
          const { id } = await make(resource);
          const headers = { 'if-match': '*' };
          const surprise = await harness.request(method, pathOf(resource, id), { body: { surprise: 1 }, headers });
          refused(t, surprise, 400, 'VALIDATION_FAILED', /surprise/);
          for (const name of Object.keys(fields.shape)) {
            const initial = fields.shape[name]?.safeParse(undefined) as { success: boolean; data?: unknown };
            if (!initial.success) continue;
            const response = await harness.request(method, pathOf(resource, id), { body: { [name]: null }, headers });
            if (response.status === 400) {
              t.deepEqual(
                response.body.details.map(({ path }: { path: string }) => path),
                [name],
              );
              continue;
            }
            t.is(response.status, 200, JSON.stringify(response.body));
            t.deepEqual(response.body[name], initial.data, name);
          }
        },
      );

    titled('If-Match guards against a lost update', async (t) => {
      const { id } = await make(resource);
      t.is((await change(resource, id, `second ${id}`)).body.version, 2);
      const records = await recordsOf(resource, id);
      const stale = await change(resource, id, `third ${id}`, { 'if-match': '"1"' });
      refused(t, stale, 412, 'PRECONDITION_FAILED', /version 2/);
      t.is(stale.headers.get('etag'), '"2"');
      t.is((await read(resource, id)).body[field], `second ${id}`);
      t.deepEqual(await recordsOf(resource, id), records);
      refused(t, await change(resource, id, 'x', { 'if-match': '2' }), 400, 'VALIDATION_FAILED', /ETag/);
      for (const [index, tag] of ['"2"', 'W/"3"', '"9", "4"', '*'].entries())
        t.is((await change(resource, id, `${index} ${id}`, { 'if-match': tag })).status, 200, tag);
      const both = await Promise.all(
        ['left', 'right', 'middle'].map((text) => change(resource, id, `${text} ${id}`, { 'if-match': '"6"' })),
      );
      t.deepEqual(both.map(({ status }) => status).sort(), [200, 412, 412]);
      if (!resource.requiresIfMatch) return;
      const body = { ...(await read(resource, id)).body };
      const without = await harness.request(writeVerb(resource) ?? 'PUT', pathOf(resource, id), { body });
      refused(t, without, 428, 'PRECONDITION_REQUIRED', /If-Match/);
    });

    titled('a read with the version that it has is 304 without a body, where it tells nothing else', async (t) => {
      const { id } = await make(resource);
      const readOperation = operations.find((one) => one.method === 'GET' && one.path === `${resource.path}/{id}`);
      const same = await harness.request('GET', pathOf(resource, id), { headers: { 'if-none-match': '"1"' } });
      t.is(same.status, readOperation?.versions === 'read' ? 304 : 200);
      if (same.status === 304) t.is(same.body, '');
      await change(resource, id, `changed ${id}`);
      const other = await harness.request('GET', pathOf(resource, id), { headers: { 'if-none-match': '"1"' } });
      t.is(other.status, 200);
    });

    if (unique.length > 0)
      titled('what must be unique is refused the second time, with the field and its value', async (t) => {
        for (const set of unique) {
          const one = await make(resource);
          const other = await make(resource);
          const uniqueFields = Object.fromEntries(set.map((name) => [name, one[name]]));
          const pattern = new RegExp(`${set[0]} "${String(one[set[0] ?? ''])}"`);
          const again = await harness.request('POST', resource.path, {
            body: { ...(await bodyFor(resource)), ...uniqueFields },
          });
          refused(t, again, 409, 'CONFLICT', pattern);
          if (set.length === 1 && set[0] === field)
            refused(t, await change(resource, other.id, String(one[field])), 409, 'CONFLICT', pattern);
        }
      });

    titled('each write leaves a record of what it changed, by whom', async (t) => {
      const { id } = await make(resource);
      const first = (await read(resource, id)).body[field];
      await change(resource, id, `changed ${id}`);
      const [created, changed, ...more] = await recordsOf(resource, id);
      t.is(more.length, 0);
      t.is(created?.action, `${type}.create`);
      t.is(created?.details?.actorName, 'owner@a.example');
      t.true(created?.details?.changes.some(({ path, after }) => path === field && after === first));
      t.is(changed?.action, `${type}.update`);
      t.deepEqual(changed?.details?.changes, [{ path: field, before: first, after: `changed ${id}` }]);
    });

    titled('earlier versions can be read, as many as are kept', async (t) => {
      const { id } = await make(resource);
      const first = (await read(resource, id)).body[field];
      for (let version = 2; version <= 4; version += 1) await change(resource, id, `${version} ${id}`);
      const own = harness.documents.forTenant('a');
      const versions = await readVersions(own, type, id);
      t.deepEqual(
        versions.map((one) => [one.resource.version, (one.fields as Fields)[field]]),
        [
          [4, `4 ${id}`],
          [3, `3 ${id}`],
          [2, `2 ${id}`],
          [1, first],
        ],
      );
      t.true(versions.every(({ actor }) => actor?.type === 'user'));
      t.is(await readVersion(harness.documents.forTenant('b'), type, id, 1), undefined);
      if (!writtenOften.has(resource)) return;
      for (let version = 5; version <= maxVersions + 2; version += 1) await change(resource, id, `${version} ${id}`);
      t.is((await readVersions(own, type, id)).length, maxVersions);
      t.is(await readVersion(own, type, id, 2), undefined);
      t.is((await readVersion(own, type, id, 3))?.resource.version, 3);
    });

    titled('whoever keeps the collection hears of a change', async (t) => {
      const changes: ResourceChange<object>[] = [];
      const cache = await watchCollection(harness.documents, resource.collection, (one) => changes.push(one));
      const { id } = await make(resource);
      await eventually('the new one is kept', () => cache.find('a', id) !== undefined);
      await change(resource, id, `changed ${id}`);
      const hasChange = () => (cache.getByTenant('a').get(id) as Fields | undefined)?.[field] === `changed ${id}`;
      await eventually('the change is kept', hasChange);
      const own = changes.filter((one) => one.id === id);
      t.deepEqual(
        own.map(({ before, after }) => [before?.version, after?.version]),
        [
          [undefined, 1],
          [1, 2],
        ],
      );
      t.is(cache.find('b', id), undefined);
      await eventually('it is fresh', () => cache.staleMs() < 2_000);
      if (deletable) {
        await harness.request('DELETE', pathOf(resource, id), { headers: { 'if-match': '*' } });
        await eventually('the removal is heard', () => cache.find('a', id) === undefined);
        t.is(changes.at(-1)?.after, undefined);
      }
      await cache.close();
    });

    titled('nobody of another organization finds it, and it is none of theirs', async (t) => {
      const token = `token ${await harness.signIn('owner@b.example')}` as const;
      const { id } = await make(resource);
      const theirs = await make(resource, token);
      t.is((await harness.request('GET', pathOf(resource, id), { as: token })).status, 404);
      const list = await harness.request('GET', `${resource.path}?limit=1000`, { as: token });
      t.deepEqual(
        list.body.items.map((one: { id: string }) => one.id).includes(theirs.id) &&
          !JSON.stringify(list.body).includes(id),
        true,
      );
      const headers = { 'if-match': '*' };
      for (const { method, path } of operations.filter((one) => one.path === `${resource.path}/{id}`)) {
        const body = method === 'GET' || method === 'DELETE' ? undefined : (await read(resource, id)).body;
        const response = await harness.request(method, path.replace('{id}', id), { as: token, body, headers });
        t.is(response.status, 404, `${method} ${JSON.stringify(response.body)}`);
      }
      t.is((await read(resource, id)).body.version, 1);
    });

    if (referred.length > 0)
      titled('it cannot refer to what there is not, nor to what is another organization’s', async (t) => {
        const token = `token ${await harness.signIn('owner@b.example')}` as const;
        for (const { path, to } of referred) {
          const body = await bodyFor(resource);
          for (const id of ['no-such-thing', (await make(resourceOf(to), token)).id]) {
            const response = await harness.request('POST', resource.path, {
              body: referringTo(resource, body, path, id),
            });
            refused(t, response, 400, 'VALIDATION_FAILED', new RegExp(id));
            t.is(response.body.details[0].path, path);
          }
        }
      });

    if (referring.length > 0)
      titled('while others refer to it, it cannot be deleted, and they are named', async (t) => {
        for (const { from, path } of referring) {
          const referrer = resourceOf(from);
          const { id } = await make(resource);
          const body = referringTo(referrer, await bodyFor(referrer), path, id);
          const user = (await harness.request('POST', referrer.path, { body })).body;
          const response = await harness.request('DELETE', pathOf(resource, id), { headers: { 'if-match': '*' } });
          refused(t, response, 409, 'CONFLICT', new RegExp(`${referrer.noun}.*${user.id}`));
          t.is((await read(resource, id)).status, 200);
          // A resource that is never deleted has references only while it is active; separate tests cover this.
          if (referrer.path === '/api/incidents') continue;
          t.is(
            (await harness.request('DELETE', pathOf(referrer, user.id), { headers: { 'if-match': '*' } })).status,
            200,
          );
          t.is((await harness.request('DELETE', pathOf(resource, id), { headers: { 'if-match': '*' } })).status, 200);
        }
      });

    if (referring.length > 0)
      titled('of a deletion and a first use at the same moment only one succeeds', async (t) => {
        for (const { from, path } of referring) {
          const referrer = resourceOf(from);
          for (let round = 0; round < 8; round += 1) {
            const { id } = await make(resource);
            const body = referringTo(referrer, await bodyFor(referrer), path, id);
            const [deleted, used] = await Promise.all([
              harness.request('DELETE', pathOf(resource, id), { headers: { 'if-match': '*' } }),
              harness.request('POST', referrer.path, { body }),
            ]);
            const outcome = `${deleted.status} ${used.status}`;
            t.true(['200 400', '409 200'].includes(outcome), outcome);
          }
        }
      });

    if (deletable)
      titled('what is deleted is gone with its versions, and the record says what it was', async (t) => {
        const { id } = await make(resource);
        const last = (await change(resource, id, `changed ${id}`)).body;
        const stale = await harness.request('DELETE', pathOf(resource, id), { headers: { 'if-match': '"1"' } });
        refused(t, stale, 412, 'PRECONDITION_FAILED', /version 2/);
        const response = await harness.request('DELETE', pathOf(resource, id), { headers: { 'if-match': '"2"' } });
        t.is(response.status, 200);
        t.is((await read(resource, id)).status, 404);
        t.is((await harness.request('DELETE', pathOf(resource, id))).status, 404);
        t.deepEqual(await readVersions(harness.documents.forTenant('a'), type, id), []);
        const record = (await recordsOf(resource, id)).at(-1);
        t.is(record?.action, `${type}.delete`);
        t.true(record?.details?.changes.some(({ path, before }) => path === field && before === last[field]));
      });
  }
};
