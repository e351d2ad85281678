/** Diagnoses why no data arrives, from a license key and the response that the sender received */
import { useState } from 'preact/hooks';
import type { runDoctor } from '../../../api/groups/onboarding/doctor.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';

export const doctorCall = declareCall<typeof runDoctor>('POST', '/api/onboarding/doctor');

type Diagnosis = ResponseBody<typeof runDoctor>;

const DiagnosisView = ({ diagnosis }: { readonly diagnosis: Diagnosis }) => (
  <>
    <h2>Findings</h2>
    <ul>
      {diagnosis.findings.map(({ code, level, message, action }) => (
        <li key={code}>
          <b class={level === 'problem' ? 'text-error' : ''}>
            {level === 'good' ? '✓' : level === 'problem' ? '✗' : '•'} {renderText(message)}
          </b>{' '}
          {renderText(action)}
        </li>
      ))}
    </ul>
    {diagnosis.refused.length === 0 ? null : (
      <>
        <h2>Rejected data</h2>
        <ul>
          {diagnosis.refused.map(({ id, receivedAt, signal, reason, message }) => (
            <li key={id}>
              <Link url={toArea('/settings/dead-letters', { open: id })}>{formatIsoTime(receivedAt)}</Link> {signal},{' '}
              {reason}: {renderText(message)}
            </li>
          ))}
        </ul>
      </>
    )}
  </>
);

export const Doctor = () => {
  const [action] = useState(() => new Action(doctorCall));
  const [diagnosis, setDiagnosis] = useState<Diagnosis>();
  const diagnose = async (form: HTMLFormElement): Promise<void> => {
    const values = Object.fromEntries(
      [...new FormData(form)]
        .map(([name, value]) => [name, String(value).trim()] as const)
        .filter(([, value]) => value !== ''),
    );
    const { status, key = '', endpoint, error } = values;
    const body = {
      key,
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(error === undefined ? {} : { error }),
      ...(status === undefined ? {} : { status: Number(status) }),
    };
    setDiagnosis(await action.run({ body }));
  };
  return (
    <ScrollRegion class="scrolled" label="Doctor">
      <p>Paste the license key of the sender and the response that it received. The key is not stored.</p>
      <ActionForm action={action} label="Troubleshoot" onSubmit={diagnose}>
        <label>
          License key <input name="key" required={true} maxLength={512} autocomplete="off" spellcheck={false} />
        </label>
        <label>
          Endpoint URL <input name="endpoint" maxLength={2048} autocomplete="off" spellcheck={false} />
        </label>
        <label>
          Response status <input name="status" type="number" min={0} max={599} />
        </label>
        <label>
          Logged error <input name="error" maxLength={2048} autocomplete="off" />
        </label>
      </ActionForm>
      {diagnosis === undefined ? null : <DiagnosisView diagnosis={diagnosis} />}
    </ScrollRegion>
  );
};
