/** Opens a comparison of one trace with another */
import { useState } from 'preact/hooks';
import { change } from '../../frame/address.ts';

/** Returns an id of 32 hexadecimal digits, anywhere in the pasted text. */
const idIn = (text: string): string | undefined =>
  /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/i.exec(text)?.[0].toLowerCase();

/** Form for the trace to compare. */
export const CompareTraceForm = () => {
  const [wrong, setWrong] = useState(false);
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        const found = idIn(String(new FormData(event.currentTarget).get('with')));
        setWrong(found === undefined);
        if (found !== undefined) change({ with: found, span: '', view: '' });
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
        {wrong ? 'A trace id has 32 hexadecimal digits.' : ''}
      </span>
    </form>
  );
};
