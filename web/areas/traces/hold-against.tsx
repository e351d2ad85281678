/** Form that opens a comparison of the trace with another one */
import { useState } from 'preact/hooks';
import { setParams } from '../../frame/address.ts';

/** Returns the first trace id (32 hexadecimal digits) in a pasted text. */
const findTraceId = (text: string): string | undefined =>
  /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/i.exec(text)?.[0].toLowerCase();

export const CompareTraceForm = () => {
  const [isInvalid, setIsInvalid] = useState(false);
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        const traceId = findTraceId(String(new FormData(event.currentTarget).get('with')));
        setIsInvalid(traceId === undefined);
        if (traceId !== undefined) setParams({ with: traceId, span: '', view: '' });
      }}
    >
      <label>
        Compare with{' '}
        <input name="with" class="field-name" autocomplete="off" spellcheck={false} placeholder="trace id" />
      </label>
      <button type="submit" class="plain">
        Compare traces
      </button>
      <span class="problem-text" role="alert">
        {isInvalid ? 'A trace id has 32 hexadecimal digits.' : ''}
      </span>
    </form>
  );
};
