/** Button that copies a text to the clipboard and confirms it. */
import { Check, Copy } from 'lucide';
import { useState } from 'preact/hooks';
import { Button, IconButton } from './button.tsx';

export const CopyButton = ({
  text,
  label = 'Copy',
  isIcon = false,
}: {
  readonly text: string;
  readonly label?: string;
  /** Shows the icon alone */
  readonly isIcon?: boolean;
}) => {
  const [result, setResult] = useState('');
  const copy = (): Promise<void> =>
    navigator.clipboard.writeText(text).then(
      () => setResult('Copied'),
      () => setResult('The browser denied access to the clipboard'),
    );
  const icon = result === 'Copied' ? Check : Copy;
  const shownLabel = result === '' ? label : result;
  return isIcon ? (
    <IconButton label={shownLabel} icon={icon} onClick={() => void copy()} />
  ) : (
    <Button kind="quiet" icon={icon} onClick={() => void copy()}>
      {shownLabel}
    </Button>
  );
};
