/** Requests of the command line to a running instance through its control socket, and their output as readable lines. */
import { type DeadLetters, listReplays, reopenOrganization, resignChain, setShards } from '../api/index.ts';
import { processorGroups } from '../processors/index.ts';
import { getFormerGroup } from '../runtime/consumer-groups.ts';
import { openStates } from '../runtime/states.ts';
import { generateLicenseKey } from '../schemas/license-key-format.ts';
import type { Bus } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Documents } from '../schemas/ports/documents.ts';
import { buildLicenseKey, licenseKeys } from '../schemas/resources/license-key.ts';
import { organizations } from '../schemas/resources/organization.ts';
import { processorStates } from '../schemas/resources/processor-state.ts';
import { sinkGroups } from '../sinks/index.ts';
import { type DeadLetterRequest, openPlatformDeadLetters, runDeadLetterRequest } from './dead-letter-request.ts';
import type { Platform } from './platform.ts';

export type ControlRequest =
  | DeadLetterRequest
  | ReplaysRequest
  | OrganizationRequest
  | ForgetGroupRequest
  | ProcessorStateRequest
  | SignChainRequest
  | { readonly action: 'demo-key' };

/** If `deadLetters` is missing, the request opens them itself and closes them afterwards. */
export type ControlPlatform = Platform & { readonly deadLetters?: DeadLetters };

export const runControlRequest = async (
  platform: ControlPlatform,
  request: ControlRequest,
  print: (line: string) => void,
): Promise<void> => {
  switch (request.action) {
    case 'demo-key':
      print(await createDemoKey(platform));
      return print(`http://${platform.settings.OTLP_HTTP_ADDRESS}`);
    case 'list-organizations':
    case 'reopen-organization':
    case 'shard-organization':
      return runOrganizationRequest(platform, request, print);
    case 'sign-chain':
      return runSignChain(platform, request, print);
    case 'list-replays':
      return runReplaysRequest(platform, request, print);
    case 'forget-group':
      return runForgetGroup(platform, request, print);
    case 'list-processor-states':
    case 'remove-processor-state':
      return runProcessorStateRequest(platform, request, print);
    default: {
      const deadLetters = platform.deadLetters ?? (await openPlatformDeadLetters(platform));
      try {
        return await runDeadLetterRequest({ ...platform, deadLetters }, request, print);
      } finally {
        if (platform.deadLetters === undefined) await deadLetters.close();
      }
    }
  }
};

const dayMs = 24 * 60 * 60 * 1_000;

/** Creates a license key for the demo, which expires after a day. */
const createDemoKey = async ({ documents, clock }: Platform): Promise<string> => {
  const key = generateLicenseKey();
  await documents
    .forTenant('default')
    .collection(licenseKeys)
    .insert(
      buildLicenseKey(key, {
        name: 'Demo (expires in a day)',
        projectId: 'default',
        expiresAt: new Date(clock.now() + dayMs).toISOString(),
      }),
    );
  return key;
};

type OrganizationRequest =
  | { readonly action: 'list-organizations' }
  | { readonly action: 'reopen-organization'; readonly id: string }
  | { readonly action: 'shard-organization'; readonly id: string; readonly shards: number };

export const runOrganizationRequest = async (
  { documents, clock }: { readonly documents: Documents; readonly clock: Clock },
  request: OrganizationRequest,
  print: (line: string) => void,
): Promise<void> => {
  if (request.action === 'reopen-organization') {
    const { id, name } = await reopenOrganization({ documents, clock }, request.id);
    return print(`${id} (${name}) is reopened`);
  }
  if (request.action === 'shard-organization') {
    const { before, after } = await setShards({ documents, clock }, request.id, request.shards);
    return print(`${after.id} (${after.name}): ${before} → ${request.shards} shards; receivers follow within seconds`);
  }
  for await (const { id, name, planId, disabled, closed, shards } of documents.findInAllTenants(organizations)) {
    const closedState = closed?.erased ? 'erased' : `closed, erased after ${closed?.eraseAt.slice(0, 10)}`;
    const state = closed ? closedState : disabled ? 'disabled' : 'open';
    print(
      [id.padEnd(36), planId.padEnd(12), state.padEnd(32), `shards ${shards}`.padEnd(10), name].join(' ').trimEnd(),
    );
  }
};

interface ForgetGroupRequest {
  readonly action: 'forget-group';
  readonly group: string;
}

const runForgetGroup = async (
  { bus }: { readonly bus: Bus },
  { group }: ForgetGroupRequest,
  print: (line: string) => void,
): Promise<void> => {
  const knownGroup = [...sinkGroups, ...processorGroups].find(
    (each) => each.group === group || getFormerGroup(each.group) === group,
  );
  if (knownGroup !== undefined)
    throw new Error(
      `${knownGroup.group} is used by this version of OIQ: without offsets it would start again at the earliest record`,
    );
  await bus.deleteGroup(group);
  print(`group ${group} is deleted; data retained only for it is removed within a minute`);
};

type ProcessorStateRequest =
  | { readonly action: 'list-processor-states' }
  | { readonly action: 'remove-processor-state'; readonly key: string };

export const runProcessorStateRequest = async (
  { documents, clock }: { readonly documents: Documents; readonly clock: Clock },
  request: ProcessorStateRequest,
  print: (line: string) => void,
): Promise<void> => {
  if (request.action === 'list-processor-states') {
    for await (const { id, updatedAt, size } of documents.findInAllTenants(processorStates))
      print([id, updatedAt, `${size} bytes`].join('  '));
    return;
  }
  const { key } = request;
  const states = openStates({ documents, clock });
  if ((await states.getNumber(key)) === undefined)
    throw new Error(`saved state ${key} does not exist: list saved states with oiq processor-state list`);
  await states.remove(key);
  print(`state ${key} is removed; its processor continues without it within half a minute`);
};

interface SignChainRequest {
  readonly action: 'sign-chain';
  readonly tenantId: string;
}

const runSignChain = async (
  platform: Platform,
  { tenantId }: SignChainRequest,
  print: (line: string) => void,
): Promise<void> => {
  const records = await resignChain(platform, tenantId);
  print(`signed ${records} records of ${tenantId} as they are now; the new start is recorded`);
};

export interface ReplaysRequest {
  readonly action: 'list-replays';
  /** Default: all organizations */
  readonly tenant?: string | undefined;
  readonly limit: number;
}

export const runReplaysRequest = async (
  platform: { readonly documents: Documents; readonly clock: Clock },
  { tenant, limit }: ReplaysRequest,
  print: (line: string) => void,
): Promise<void> => {
  const replays = await listReplays(platform, tenant);
  for (const { id, startedAt, tenantId, state, dryRun, done, matched, actor, error } of replays.slice(0, limit)) {
    const progress = `${done} of ${matched}${dryRun ? ' (dry run)' : ''}`;
    print([id, startedAt, tenantId, state, progress, actor, ...(error === null ? [] : [error])].join('  '));
  }
  const shownCount = Math.min(limit, replays.length);
  print(`${shownCount} shown${shownCount < replays.length ? '; more exist (--limit)' : ''}`);
};
