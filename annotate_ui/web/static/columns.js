// Responses side by side: the one that is being rated is marked and scrolled into view.

// `chosen(letter)` runs when the rater presses on a response.
export function watchColumns(chosen) {
  const row = document.querySelector(".columns");
  const columns = [...document.querySelectorAll(".column")];

  // Sideways only: the reader's place in the text stays.
  function bring(column) {
    const [frame, box] = [row.getBoundingClientRect(), column.getBoundingClientRect()];
    if (box.left < frame.left) row.scrollLeft -= frame.left - box.left;
    else if (box.right > frame.right) row.scrollLeft += Math.min(box.right - frame.right, box.left - frame.left);
  }

  for (const column of columns) {
    column.addEventListener("click", () => chosen(column.dataset.letter));
    // The Tab key moves into what is out of view at the side, too.
    column.addEventListener("focusin", () => bring(column));
  }

  function turnTo(letter) {
    for (const column of columns) {
      const here = column.dataset.letter === letter;
      column.classList.toggle("current", here);
      if (here) bring(column);
    }
  }

  return { turnTo };
}
