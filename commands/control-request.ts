/** What the control socket of a running instance is asked. */
import type { DeadLetters } from '../api/index.ts';
import { makeLicenseKey } from '../schemas/license-key-format.ts';
import { licenseKeyFields, licenseKeys } from '../schemas/resources/license-key.ts';
import { type DeadLetterRequest, runDeadLetterRequest } from './dead-letter-request.ts';
import { runSignChain, type SignChainRequest } from './evidence-request.ts';
import { type ForgetGroupRequest, runForgetGroup } from './forget-group-request.ts';
import { type OrganizationRequest, runOrganizationRequest } from './organization-request.ts';
import type { Platform } from './platform.ts';
import { type ReplaysRequest, runReplaysRequest } from './replays-request.ts';

export type ControlRequest =
  | DeadLetterRequest
  | ReplaysRequest
  | OrganizationRequest
  | ForgetGroupRequest
  | SignChainRequest
  | { readonly action: 'demo-key' };

export type ControlPlatform = Platform & { readonly deadLetters: DeadLetters };

export const runControlRequest = async (
  platform: ControlPlatform,
  request: ControlRequest,
  print: (line: string) => void,
): Promise<void> => {
  switch (request.action) {
    case 'demo-key':
      print(await demoKey(platform));
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
    default:
      return runDeadLetterRequest(platform, request, print);
  }
};

const dayMs = 24 * 60 * 60 * 1_000;

/** A license key for the demo; it is of no use after a day. */
const demoKey = async ({ documents, clock }: Platform): Promise<string> => {
  const key = makeLicenseKey();
  await documents
    .of('default')
    .collection(licenseKeys)
    .insert(
      licenseKeyFields(key, {
        name: 'Demo (expires in a day)',
        projectId: 'default',
        expiresAt: new Date(clock.now() + dayMs).toISOString(),
      }),
    );
  return key;
};
