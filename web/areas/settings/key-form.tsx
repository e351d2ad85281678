/** Form to edit a license key: allowed telemetry, addresses, rate limit and expiry */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { licenseKeyResource } from '../../../api/groups/license-keys/resource.ts';
import type { LicenseKeyFields } from '../../../schemas/resources/license-key.ts';
import { Action } from '../../client/action.ts';
import { changeOf, type ViewOf } from '../../client/call.ts';
import { LinesInput, NumberInput, SomeInput, TextInput } from '../../editors/inputs.tsx';
import { linesIn } from '../../editors/lines.ts';
import { Problem } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';

type Key = ViewOf<typeof licenseKeyResource>;
type Written = Required<z.input<typeof LicenseKeyFields>>;

const changeCall = changeOf<typeof licenseKeyResource, Written>('/api/license-keys/{id}');
const signals = ['logs', 'metrics', 'traces'] as const;

export const KeyForm = ({ of }: { readonly of: Key }) => {
  const [action] = useState(() => new Action(changeCall));
  const [name, setName] = useState(of.name);
  const [sent, setSent] = useState(of.signals ?? [...signals]);
  const [networks, setNetworks] = useState((of.allowedCidrs ?? []).join('\n'));
  const [perSecond, setPerSecond] = useState(of.requestsPerSecond ?? null);
  const [until, setUntil] = useState(of.expiresAt ?? '');
  const error = action.error.value;
  if (!isPermitted(changeCall)) return null;
  const save = async (): Promise<void> => {
    const body: Written = {
      name,
      signals: sent,
      allowedCidrs: linesIn(networks),
      requestsPerSecond: perSecond,
      expiresAt: until.trim() === '' ? null : until.trim(),
    };
    if ((await action.run({ params: { id: of.id }, body, ifMatch: of.version })) !== undefined) refresh();
  };
  return (
    <details>
      <summary>Edit key</summary>
      <div class="form">
        <TextInput label="Key name" value={name} problem={error?.at('name')} onChange={setName} />
        <SomeInput
          label="Allowed signals"
          value={sent}
          problem={error?.at('signals')}
          options={signals.map((signal) => [signal, signal])}
          onChange={(chosen) => setSent(signals.filter((signal) => chosen.includes(signal)))}
        />
        <LinesInput
          label="Allowed networks, one per line"
          hint="Such as 10.0.0.0/8; default: any network"
          value={networks}
          problem={error?.at('allowedCidrs')}
          onChange={setNetworks}
        />
        <NumberInput
          label="Requests per second"
          value={perSecond}
          problem={error?.at('requestsPerSecond')}
          hint="Default: the maximum of the installation"
          onChange={setPerSecond}
        />
        <TextInput
          label="Expires at"
          value={until}
          problem={error?.at('expiresAt')}
          hint="Such as 2027-01-31T00:00:00Z; default: no expiry"
          onChange={setUntil}
        />
        <div class="act">
          <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
            Save key
          </button>
          <Problem error={error} />
        </div>
      </div>
    </details>
  );
};
