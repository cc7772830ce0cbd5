//! The numbers of a chip by field, and what they say together: which are missing, and which contradict each other.

use super::fact::Fact;
use super::field::{Field, Need};
use super::unit::{RATE_CYCLES, rate_of};

/// The numbers of a chip, by field.
pub(super) struct Figures([Option<u64>; Field::ALL.len()]);

/// What is wrong with figures that are each in order.
pub(super) struct Contradiction {
    /// The figure to point at.
    pub(super) field: Field,
    pub(super) message: String,
    pub(super) help: &'static str,
}

/// The memories: name, bytes, rate.
const MEMORIES: [(&str, Field, Field); 2] =
    [("HBM", Field::HbmBytes, Field::HbmBandwidth), ("DDR", Field::DdrBytesSizing, Field::DdrBandwidth)];

impl Figures {
    pub(super) fn of(facts: &[Fact]) -> Figures {
        let mut figures = [None; Field::ALL.len()];
        for fact in facts {
            figures[fact.field as usize] = fact.number();
        }
        Figures(figures)
    }

    pub(super) fn get(&self, field: Field) -> Option<u64> {
        self.0[field as usize]
    }

    /// A figure of a field whose form keeps it inside a word.
    pub(super) fn word(&self, field: Field) -> Option<u32> {
        self.get(field).and_then(|n| u32::try_from(n).ok())
    }

    /// Fields that this chip must have and has not.
    pub(super) fn missing(&self) -> Vec<Field> {
        let mut missing: Vec<Field> =
            Field::ALL.iter().copied().filter(|f| f.need() == Need::Always && self.get(*f).is_none()).collect();
        for (_, bytes, rate) in MEMORIES {
            if self.get(bytes).is_some_and(|bytes| bytes > 0) && self.get(rate).is_none() {
                missing.push(rate);
            }
        }
        missing
    }

    /// Where figures disagree: each would make a unit model that is none.
    pub(super) fn contradictions(&self) -> Vec<Contradiction> {
        let mut found = Vec::new();
        self.cells(&mut found);
        self.memories(&mut found);
        self.parts(&mut found);
        if self.missing().is_empty() {
            self.rates(&mut found);
        }
        found
    }

    /// A cell is a PCU with its PMU, and a site of the mesh holds one.
    fn cells(&self, found: &mut Vec<Contradiction>) {
        let [cells, pmus] = [Field::PcuCount, Field::PmuCount].map(|field| self.get(field));
        if let (Some(cells), Some(columns), Some(rows)) =
            (cells, self.get(Field::MeshColumns), self.get(Field::MeshRows))
            && columns * rows != cells
        {
            let message = format!("a mesh of {columns} by {rows} does not hold {cells} PCUs, one a site");
            let help = "choose `mesh_columns` and `mesh_rows` whose product is `pcu_count`";
            found.push(Contradiction { field: Field::MeshColumns, message, help });
        }
        if let (Some(cells), Some(pmus)) = (cells, pmus)
            && cells != pmus
        {
            let message = format!("{pmus} PMUs do not pair with {cells} PCUs: a cell is one of each");
            let help = "another ratio is not modeled: write the number of pairs in both";
            found.push(Contradiction { field: Field::PmuCount, message, help });
        }
        if let (Some(pmus), Some(each), Some(bytes)) =
            (pmus, self.get(Field::SramBytesPerPmu), self.get(Field::SramBytes))
            && pmus * each != bytes
        {
            let message = format!("{pmus} PMUs of {each} bytes are {} bytes of SRAM, not {bytes}", pmus * each);
            let help = "`sram_bytes` is `pmu_count` times `sram_bytes_per_pmu`";
            found.push(Contradiction { field: Field::SramBytes, message, help });
        }
        if let Some(bytes) = self.get(Field::SramBytes).filter(|&bytes| bytes > u32::MAX.into()) {
            let message = format!("{bytes} bytes of SRAM are more than a buffer's address counts, {}", u32::MAX);
            let help = "an address in a bundle is a word of 32 bits: size the chip by less, or each die as one";
            found.push(Contradiction { field: Field::SramBytes, message, help });
        }
    }

    fn memories(&self, found: &mut Vec<Contradiction>) {
        for (name, bytes, field) in MEMORIES {
            let Some(bytes) = self.get(bytes) else { continue };
            let (message, help) = match self.get(field) {
                Some(0) if bytes > 0 => {
                    (format!("{name} with a rate of 0 is never read"), "write its rate in bytes a second")
                }
                Some(1..) if bytes == 0 => {
                    (format!("a rate of {name} where there is none"), "leave it out, or state the memory's bytes")
                }
                Some(_) | None => continue,
            };
            found.push(Contradiction { field, message, help });
        }
        let Some(sizing) = self.get(Field::DdrBytesSizing) else { return };
        let mut say = |message| {
            let help = "size with the DDR that a chip is sold with";
            found.push(Contradiction { field: Field::DdrBytesSizing, message, help });
        };
        if sizing == 0 && self.get(Field::HbmBytes) == Some(0) {
            say("a chip with neither HBM nor DDR has no room for weights".to_owned());
        }
        if let Some(least) = self.get(Field::DdrBytesMin).filter(|&least| sizing < least) {
            say(format!("{sizing} bytes of DDR to size with are below the least, {least}"));
        }
        if let Some(most) = self.get(Field::DdrBytesMax).filter(|&most| sizing > most) {
            say(format!("{sizing} bytes of DDR to size with are above the most, {most}"));
        }
    }

    /// Parts of the rate between chips are not above it.
    fn parts(&self, found: &mut Vec<Contradiction>) {
        let whole = self.get(Field::ScaleUpPerDirection).unwrap_or(0);
        for field in [Field::ScaleUpIntraNode, Field::ScaleUpInterNode] {
            let Some(part) = self.get(field).filter(|&part| part > whole) else { continue };
            let message = format!("{part} bytes/s are more than the whole rate between chips, {whole}");
            let help = "`scale_up_bandwidth_per_direction` is the whole, of which this is a part";
            found.push(Contradiction { field, message, help });
        }
    }

    /// Rates a cycle fit the words of a bundle.
    fn rates(&self, found: &mut Vec<Contradiction>) {
        let links = [Field::ScaleUpPerDirection, Field::ScaleUpInterNode];
        for field in MEMORIES.into_iter().map(|(_, _, rate)| rate).chain(links) {
            if rate_of(self, field).is_none() {
                let message = format!(
                    "the rate is out of range: in {RATE_CYCLES} cycles of the unit model it moves no byte, or more than {}",
                    u32::MAX
                );
                let help = "a cycle follows from `peak_bf16_tflops`, `pcu_count`, `array_rows` and `array_columns`";
                found.push(Contradiction { field, message, help });
            }
        }
    }
}
