// Examples that are edited in place: what is written at the left is shown at the right.
import {here, show, whenNear} from './docs.js';

for (const area of document.querySelectorAll('.try')) {
  const text = area.querySelector('textarea'), frame = area.querySelector('iframe'), [copy, again] = area.querySelectorAll('button');
  text.value = here(text.value);
  const written = text.value;
  let waiting;
  const draw = () => show(frame, text.value);
  text.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(draw, 400);
  });
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text.value);
    copy.textContent = 'Copied';
    copy.addEventListener('blur', () => { copy.textContent = 'Copy'; }, {once: true});
  });
  again.addEventListener('click', () => { text.value = written; draw(); });
  whenNear(frame, draw);
}
