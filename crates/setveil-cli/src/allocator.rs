//! How the system's allocator keeps memory that is not in use.
//!
//! A command works in stages that take much memory one after the other. The allocator of the GNU C library keeps what a
//! stage gave back in up to eight arenas a core, and learns to keep larger and larger blocks. Measured on a million
//! records, `attack` had half as much again as it used. With [`keep_little`] there is an arena a core, and large blocks go
//! back to the system at once.
//!
//! To fetch such blocks again takes time: with that, `anonymize disassociation` took a twentieth more. It has one such
//! stage after the other and comes out with little memory anyway, so it keeps what it has: [`keep_much`].
//!
//! Both are to be called before there are threads. What somebody set by the library's own variables stays.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod gnu {
    use libc::{M_ARENA_MAX, M_MMAP_THRESHOLD, M_TOP_PAD, M_TRIM_THRESHOLD, c_int};

    /// A variable of the library that says the same, what is set, and to what.
    pub type Wish = (&'static str, c_int, c_int);

    /// Blocks of this size come from the system and go back to it.
    const LARGE: c_int = 1 << 20;

    pub fn little() -> [Wish; 3] {
        let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        [
            ("MALLOC_ARENA_MAX", M_ARENA_MAX, c_int::try_from(cores).unwrap_or(c_int::MAX)),
            ("MALLOC_MMAP_THRESHOLD_", M_MMAP_THRESHOLD, LARGE),
            ("MALLOC_TRIM_THRESHOLD_", M_TRIM_THRESHOLD, LARGE),
        ]
    }

    pub fn much() -> [Wish; 3] {
        [
            // The largest that the library knows.
            ("MALLOC_MMAP_THRESHOLD_", M_MMAP_THRESHOLD, 32 << 20),
            ("MALLOC_TRIM_THRESHOLD_", M_TRIM_THRESHOLD, 64 << 20),
            // What is asked of the system beyond what is needed, so that it is asked less often.
            ("MALLOC_TOP_PAD_", M_TOP_PAD, LARGE),
        ]
    }

    pub fn tell(wishes: &[Wish]) {
        for &(variable, wish, value) in wishes {
            if std::env::var_os(variable).is_none() {
                // SAFETY: `mallopt` takes two numbers and may be called at any time. A wish that is not
                // granted (0 comes back) changes nothing but how much memory is kept.
                unsafe { libc::mallopt(wish, value) };
            }
        }
    }
}

/// Memory before time.
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    gnu::tell(&gnu::little());
}

/// Time before memory.
pub fn keep_much() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    gnu::tell(&gnu::much());
}
