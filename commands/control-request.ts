/** What the control socket of a running instance is asked. */
import type { DeadLetters } from '../api/groups/dead-letter/dead-letters.ts';
import { makeLicenseKey } from '../schemas/license-key-format.ts';
import { licenseKeyFields, licenseKeys } from '../schemas/resources/license-key.ts';
import { type DeadLetterRequest, runDeadLetterRequest } from './dead-letter-request.ts';
import type { Platform } from './platform.ts';

export type ControlRequest = DeadLetterRequest | { readonly action: 'demo-key' };

export type ControlPlatform = Platform & { readonly deadLetters: DeadLetters };

export const runControlRequest = async (
  platform: ControlPlatform,
  request: ControlRequest,
  print: (line: string) => void,
): Promise<void> => {
  if (request.action !== 'demo-key') return runDeadLetterRequest(platform, request, print);
  print(await demoKey(platform));
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
