/** Begins the page. */
import { render } from 'preact';
import { areas } from './areas.ts';
import { Frame } from './frame/frame.tsx';
import { openSession } from './frame/session.ts';

const place = document.getElementById('page');
if (place !== null) {
  openSession();
  render(<Frame areas={areas} />, place);
}
