//! How the system's allocator keeps memory that is not in use.
//!
//! A command works in stages that take much memory one after the other. The allocator of the GNU C library keeps what a
//! stage gave back in up to eight arenas a core, and learns to keep larger and larger blocks. Measured on a million
//! records, `attack` had half as much again as it used. Here there is an arena a core, and large blocks go back to the system at once.

/// Blocks of this size come from the system and go back to it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 1 << 20;

/// Tells the allocator; to be called before there are threads. What somebody set by the library's own variables stays.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_little() {
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    let arenas = libc::c_int::try_from(cores).unwrap_or(libc::c_int::MAX);
    let wishes = [
        ("MALLOC_ARENA_MAX", libc::M_ARENA_MAX, arenas),
        ("MALLOC_MMAP_THRESHOLD_", libc::M_MMAP_THRESHOLD, LARGE),
        ("MALLOC_TRIM_THRESHOLD_", libc::M_TRIM_THRESHOLD, LARGE),
    ];
    let unset = |variable: &str| std::env::var_os(variable).is_none();
    for (_, wish, value) in wishes.into_iter().filter(|(variable, ..)| unset(variable)) {
        // SAFETY: `mallopt` takes two numbers and may be called at any time. A wish that is not
        // granted (0 comes back) changes nothing but how much memory is kept.
        unsafe { libc::mallopt(wish, value) };
    }
}

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_little() {}
