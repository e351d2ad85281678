/** License key that is filled in snippets. The API shows a key only once, when it is created. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { mintLicenseKey } from '../../api/groups/license-keys/mint-key.ts';
import { Action } from '../client/action.ts';
import { declareCall } from '../client/call.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { ErrorMessage } from '../frame/freshness.tsx';
import { getProject } from '../frame/project.ts';
import { explainDenial, isPermitted } from '../frame/rights.ts';
import { refresh } from '../frame/time-range.ts';

const createKeyCall = declareCall<typeof mintLicenseKey>('POST', '/api/license-keys');

/** License key that was created in this tab */
const createdKey = signal('');

/** Returns a snippet with the created key instead of its placeholder. */
export const fillInKey = (text: string, placeholder: string): string =>
  createdKey.value === '' ? text : text.replaceAll(placeholder, createdKey.value);

export const CreateKey = () => {
  const [action] = useState(() => new Action(createKeyCall));
  if (createdKey.value !== '')
    return (
      <p role="status">
        <Badge tone="ok">Key created</Badge> The key is filled in below and is shown only once.{' '}
        <CopyButton text={createdKey.value} label="Copy key" />
      </p>
    );
  if (!isPermitted(createKeyCall)) return <p class="soft">{explainDenial(createKeyCall, 'Creating license keys')}</p>;
  const createKey = async (): Promise<void> => {
    const name = `Get started ${new Date().toISOString().slice(0, 16)}`;
    const licenseKey = await action.run({ body: { name, projectId: getProject() } });
    if (licenseKey === undefined) return;
    createdKey.value = licenseKey.key;
    refresh();
  };
  return (
    <>
      <p class="act">
        <Button kind="primary" disabled={action.isRunning.value} onClick={() => void createKey()}>
          Create license key
        </Button>
        <span class="soft">It is filled in the snippets. A key that you already have works too.</span>
      </p>
      <ErrorMessage error={action.error.value} />
    </>
  );
};
