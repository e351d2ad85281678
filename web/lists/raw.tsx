/** Scrollable preformatted text */
import { renderText } from '../frame/display-text.tsx';
import { ScrollRegion } from './scroll-region.tsx';

export const RawText = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <ScrollRegion class="body" label={label}>
    <pre>{renderText(text, { lines: true })}</pre>
  </ScrollRegion>
);
