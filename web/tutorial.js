// Makes the text of tutorial.html follow its boards and control them. Uses only what any page can: attributes, methods and events of the
// element. A text refers to the board of its section.
//   <b data-number="weights 0 2 1">  shows the number of a cell (tensor, head, row, column), and updates it
//   <span data-at="q 0 2 0 2">       while pointed at or focused: a ring around cells on the board (tensor, head, row, first column, count)
//   <button data-calls='[["set", "causal", true]]'>  calls methods of the board, one after the other
//   <input data-option="causal">     a switch or slider of the page, synchronised with an option of the board
//   <p data-passed='[check, …]'>     gets data-done once the checks hold
const MINUS = '\u2212';
const written = (value) => value === undefined ? '–' : value.toFixed(2).replace('-', MINUS);

function placeOf(text) {
  const [tensor, ...at] = text.split(' ');
  const [head, row, col, count = 1] = at.map(Number);
  return {tensor, head, row, col, count};
}

// ---------------------------------------------------------------- text that follows

function follow(section, board) {
  for (const node of section.querySelectorAll('[data-number]')) {
    const {tensor, head, row, col} = placeOf(node.dataset.number);
    board.observe({tensor, head, row, col}, (value) => {
      const words = written(value);
      if (node.textContent !== words) node.textContent = words;
    });
  }
  for (const input of section.querySelectorAll('[data-option]')) {
    const show = () => {
      const value = board.get(input.dataset.option);
      if (input.type === 'checkbox') input.checked = value;
      else input.value = value;
      const out = section.querySelector(`output[for="${input.id}"]`);
      if (out) out.textContent = written(Number(value));
    };
    for (const type of ['input', 'change']) board.addEventListener(type, ({detail}) => (detail.option === input.dataset.option || detail.action) && show());
    show();
  }
  for (const node of section.querySelectorAll('[data-passed]')) {
    board.on(JSON.parse(node.dataset.passed), () => {
      node.textContent = node.dataset.done;
      node.classList.add('done');
    });
  }
}

// ---------------------------------------------------------------- text that drives

function drive(section, board) {
  for (const button of section.querySelectorAll('[data-calls]')) {
    button.addEventListener('click', async () => {
      await board.ready;
      for (const [method, ...values] of JSON.parse(button.dataset.calls)) board[method](...values);
    });
  }
  for (const input of section.querySelectorAll('[data-option]')) {
    input.addEventListener('input', async () => {
      await board.ready;
      board.set(input.dataset.option, input.type === 'checkbox' ? input.checked : Number(input.value));
    });
  }
}

// ---------------------------------------------------------------- where a number is

const ring = document.body.appendChild(document.createElement('div'));
ring.className = 'ring';
ring.hidden = true;

function point(section, board) {
  for (const node of section.querySelectorAll('[data-at]')) {
    const {tensor, head, row, col, count} = placeOf(node.dataset.at);
    const show = () => {
      let first, last;
      try {
        [first, last] = [board.locate(tensor, head, row, col), board.locate(tensor, head, row, col + count - 1)];
      } catch {
        return;  // not there yet, or no longer on this board
      }
      const [left, top] = [Math.min(first.left, last.left), Math.min(first.top, last.top)];
      Object.assign(ring.style, {left: `${left - 3}px`, top: `${top - 3}px`, width: `${Math.max(first.right, last.right) - left + 6}px`, height: `${Math.max(first.bottom, last.bottom) - top + 6}px`});
      ring.hidden = false;
    };
    node.tabIndex = 0;
    for (const type of ['pointerenter', 'focus']) node.addEventListener(type, show);
    for (const type of ['pointerleave', 'blur']) node.addEventListener(type, () => { ring.hidden = true; });
  }
}
addEventListener('scroll', () => { ring.hidden = true; }, {passive: true});

// ---------------------------------------------------------------- each board, when it comes near

// On a phone some boards show fewer matrices, those in data-narrow, so that numbers can be read.
const NARROW = matchMedia('(max-width: 560px)');

function lay(board) {
  const {show, dataset: {narrow}} = board;
  const choose = () => { board.show = NARROW.matches ? narrow : show; };
  if (!narrow) return;
  choose();
  NARROW.addEventListener('change', choose);
}

for (const section of document.querySelectorAll('section')) {
  const board = section.querySelector('attention-playground');
  if (!board) continue;
  board.addEventListener('ready', () => follow(section, board), {once: true});
  lay(board);
  drive(section, board);
  point(section, board);
}
