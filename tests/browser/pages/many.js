// A long page with many boards, one below the other.
const presets = ['i-saw-a-saw', 'uniform'];
for (let i = 0; i < 24; i++) {
  const board = document.createElement('attention-playground');
  board.id = `board${i}`;
  board.setAttribute('preset', presets[i % presets.length]);
  const words = document.createElement('p');
  words.textContent = `Words before board ${i}.`;
  document.querySelector('main').append(words, board);
}
