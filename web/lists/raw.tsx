/** Scrollable preformatted text */
import { renderText } from '../frame/shown-text.tsx';
import { ScrollRegion } from './scrolled.tsx';

export const RawText = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <ScrollRegion class="body" label={label}>
    <pre>{renderText(text, { lines: true })}</pre>
  </ScrollRegion>
);
