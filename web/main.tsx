/** Entry point of the page */
import { render } from 'preact';
import { areaGroups } from './areas.ts';
import { path } from './frame/address.ts';
import { Frame } from './frame/frame.tsx';
import { later } from './frame/lazy-load.tsx';
import { openSession } from './frame/session.ts';

const SharedSnapshot = later(async () => (await import('./areas/dashboards/shared.tsx')).SharedSnapshot);

const place = document.getElementById('page');
// The document contains a loading message.
place?.replaceChildren();
if (place !== null && path.value === '/snapshot') render(<SharedSnapshot />, place);
else if (place !== null) {
  openSession();
  render(<Frame groups={areaGroups} />, place);
}
