/** What is open beside a list. */
import type { ComponentChildren } from 'preact';
import { shownText, textOf } from '../frame/shown-text.tsx';

export const Beside = ({
  label,
  title,
  onClose,
  children,
}: {
  readonly label: string;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) => (
  <aside class="beside" aria-label={label}>
    <div class="beside-head">
      <h2>{shownText(title)}</h2>
      <button type="button" class="plain" onClick={onClose}>
        Close
      </button>
    </div>
    {children}
  </aside>
);

/** Names and values; without what is empty. */
export const Fields = ({ values }: { readonly values: Readonly<Record<string, unknown>> }) => (
  <dl class="fields">
    {Object.entries(values)
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value]) => (
        <div key={name}>
          <dt>{shownText(name)}</dt>
          <dd>{shownText(textOf(value))}</dd>
        </div>
      ))}
  </dl>
);
