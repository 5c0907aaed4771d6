//! `refrain crawl` against a web that lies, stalls and misbehaves: whatever it does, the crawl goes on with other pages, what is kept
//! was served, and the data directory is sound.

mod bodies;
mod disk;
mod heads;
mod mistakes;
mod private;
mod redirects;
mod robots;
mod scope;
