/** Scrollable text with line breaks, as received */
import { shownText } from '../frame/shown-text.tsx';
import { Scrolled } from './scrolled.tsx';

export const Raw = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <Scrolled class="body" label={label}>
    <pre>{shownText(text, { lines: true })}</pre>
  </Scrolled>
);
