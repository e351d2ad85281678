/** Form to edit a license key: allowed signals and networks, rate limit and expiry */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { licenseKeyResource } from '../../../api/groups/license-keys/resource.ts';
import type { LicenseKeyFields } from '../../../schemas/resources/license-key.ts';
import { Action } from '../../client/action.ts';
import { declareUpdateCall, type ResourceView } from '../../client/call.ts';
import { CheckboxGroup, MultilineInput, NumberInput, TextInput } from '../../editors/inputs.tsx';
import { parseLines } from '../../editors/lines.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';

type Key = ResourceView<typeof licenseKeyResource>;
type KeyChange = Required<z.input<typeof LicenseKeyFields>>;

const changeCall = declareUpdateCall<typeof licenseKeyResource, KeyChange>('/api/license-keys/{id}');
const telemetrySignals = ['logs', 'metrics', 'traces'] as const;
const browserSignals = ['logs', 'traces'] as const;

export const KeyForm = ({ licenseKey }: { readonly licenseKey: Key }) => {
  const [action] = useState(() => new Action(changeCall));
  const [name, setName] = useState(licenseKey.name);
  const [allowedSignals, setAllowedSignals] = useState(licenseKey.signals ?? [...telemetrySignals]);
  const [networks, setNetworks] = useState((licenseKey.allowedCidrs ?? []).join('\n'));
  const [requestsPerSecond, setRequestsPerSecond] = useState(licenseKey.requestsPerSecond ?? null);
  const [expiresAt, setExpiresAt] = useState(licenseKey.expiresAt ?? '');
  const [application, setApplication] = useState(licenseKey.application ?? '');
  const [origins, setOrigins] = useState((licenseKey.origins ?? []).join('\n'));
  const [maxBytesPerDay, setMaxBytesPerDay] = useState(licenseKey.maxBytesPerDay ?? null);
  const kind = licenseKey.kind ?? 'server';
  const isBrowser = kind === 'browser';
  const sendableSignals = isBrowser ? browserSignals : telemetrySignals;
  const error = action.error.value;
  if (!isPermitted(changeCall)) return null;
  const save = async (): Promise<void> => {
    const body: KeyChange = {
      name,
      kind,
      application: application.trim() === '' ? null : application.trim(),
      origins: parseLines(origins),
      maxBytesPerDay,
      signals: allowedSignals,
      allowedCidrs: parseLines(networks),
      requestsPerSecond: requestsPerSecond,
      expiresAt: expiresAt.trim() === '' ? null : expiresAt.trim(),
    };
    if ((await action.run({ params: { id: licenseKey.id }, body, ifMatch: licenseKey.version })) !== undefined)
      refresh();
  };
  return (
    <details>
      <summary>Edit key</summary>
      <div class="form">
        <TextInput label="Key name" value={name} problem={error?.at('name')} onChange={setName} />
        <CheckboxGroup
          label="Allowed signals"
          value={allowedSignals}
          problem={error?.at('signals')}
          options={sendableSignals.map((signal) => [signal, signal])}
          onChange={(selectedSignals) =>
            setAllowedSignals(telemetrySignals.filter((signal) => selectedSignals.includes(signal)))
          }
        />
        {isBrowser ? (
          <>
            <TextInput
              label="Application"
              value={application}
              problem={error?.at('application')}
              hint="service.name of the pages that use the key"
              onChange={setApplication}
            />
            <MultilineInput
              label="Origins, one per line"
              hint="For example https://shop.example.com or https://*.example.com"
              value={origins}
              problem={error?.at('origins')}
              onChange={setOrigins}
            />
            <NumberInput
              label="Bytes per day"
              value={maxBytesPerDay}
              problem={error?.at('maxBytesPerDay')}
              hint="Default: no limit"
              onChange={setMaxBytesPerDay}
            />
          </>
        ) : null}
        <MultilineInput
          label="Allowed networks, one per line"
          hint="For example 10.0.0.0/8. Default: any network."
          value={networks}
          problem={error?.at('allowedCidrs')}
          onChange={setNetworks}
        />
        <NumberInput
          label="Requests per second"
          value={requestsPerSecond}
          problem={error?.at('requestsPerSecond')}
          hint="Default: the maximum of the installation"
          onChange={setRequestsPerSecond}
        />
        <TextInput
          label="Expires at"
          value={expiresAt}
          problem={error?.at('expiresAt')}
          hint="For example 2027-01-31T00:00:00Z. Default: no expiry."
          onChange={setExpiresAt}
        />
        <div class="act">
          <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
            Save key
          </button>
          <ErrorMessage error={error} />
        </div>
      </div>
    </details>
  );
};
